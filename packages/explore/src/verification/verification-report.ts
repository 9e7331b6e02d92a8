import { text } from '../../../../src/kernel/bytes.js'
import { plural } from '../../../../src/kernel/plural.js'
import { dialectsOf } from '../../../../src/protocol/dialect.js'
import { carryFailure } from '../../../../src/report/failure.js'
import { replayLines } from '../../../../src/report/failure-text.js'
import { standardRedaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import type { Effects } from '../delivery/delivery-effects.js'
import { literal } from '../delivery/rule-literal.js'
import type { Reaction, VerificationAnswer } from './verification-app.js'
import { causes, otherSpellings, type Question, unknownKey, type VerificationCase } from './verification-cases.js'

/** Wrong responses that have the same probable cause. */
interface Group {
  readonly because: string
  readonly answers: VerificationAnswer[]
  /** Effects of deliveries that the app rejected. */
  readonly work: readonly string[]
}

/** Maximum number of groups that get several lines. If there are more groups, each gets one line. */
const fewGroups = 5

interface Case {
  readonly to: string
  /** Another dialect in which the app accepts the correct delivery, or `undefined` if there is none. */
  readonly words: string | undefined
}

/**
 * Returns an error that lists the wrong responses of an app, or `undefined` if there are none.
 * @param right response to the correct delivery
 */
export function notVerified(
  answers: readonly VerificationAnswer[],
  right: Reaction,
  { to, words }: Case,
): Error | undefined {
  const groups = grouped(answers, right)
  const takesAny =
    right.accepted || answers.some(({ question, accepted }) => question.wanted === 'accepted' && accepted)
  if (groups.length === 0 && takesAny) return undefined
  const failed = new Set(groups.flatMap((group) => group.answers.map(({ question }) => question.name)))
  const total = new Set(answers.map(({ question }) => question.name)).size
  const [first = right] = groups[0]?.answers ?? []
  const rest = total - failed.size
  const replay = `assertVerifiesSignatures(app, { …, only: ${literal(takesAny ? [...failed] : ['current'])} })`
  const timeline = first.sandbox.traffic.timeline({ limit: 20 })
  const error = new Error(
    [
      ...(takesAny ? wrongAnswers(to, answers, groups, rest) : refusesAll(to, right, words)),
      '',
      timeline,
      '',
      ...replayLines(replay),
    ].join('\n'),
  )
  error.name = 'NotVerified'
  // The stack trace would show only code of this package, so it is replaced by the message.
  error.stack = `${error.name}: ${error.message}`
  return carryFailure(error, { replay, timeline: timeline.split('\n') })
}

function grouped(answers: readonly VerificationAnswer[], right: Reaction): readonly Group[] {
  const groups = new Map<string, Group>()
  const taken = new Set(answers.flatMap(({ question, accepted }) => (accepted ? [question.name] : [])))
  if (right.accepted) taken.add('current')
  for (const answer of answers) {
    const { question, accepted } = answer
    const work = question.wanted === 'refused' && !accepted ? inCommon(answer.effects, right.effects) : []
    if (accepted === (question.wanted === 'accepted') && work.length === 0) continue
    const because = work.length === 0 ? causeOf(question, taken) : tooLate
    const key = `${accepted} ${because}`
    const group = groups.get(key) ?? { because, answers: [], work }
    group.answers.push(answer)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Returns the probable cause of a wrong response. It depends on the other deliveries that the app accepted. */
function causeOf({ name, wanted, because }: Question, taken: ReadonlySet<VerificationCase>): string {
  if (wanted === 'accepted') {
    const isWrittenAgain = otherSpellings.some((spelling) => taken.has(spelling))
    if (isWrittenAgain && !taken.has('current')) return causes.reserialized
    // The deliveries with other formattings are signed with the current key.
    return otherSpellings.includes(name) && !taken.has('current') ? unknownKey : because
  }
  // An app that accepts any key also accepts rotated keys and tampered signatures. An app that accepts any body also
  // accepts a body that was serialized again. So report the accepted key or body as the only cause.
  if (taken.has('key') && (name.startsWith('rotated') || name === 'tampered')) return causes.key
  return name === 'reserialized' && taken.has('body') ? causes.body : because
}

const tooLate =
  'the delivery is rejected only after the work was done. Verify the signature first, or exclude other effects: ignoreKeys, ignoreOutbound'

/** Returns the effects that a rejected delivery and the accepted delivery have in common. */
function inCommon(now: Effects, right: Effects): readonly string[] {
  const keys = [...now.store.keys()].filter((key) => right.store.has(key))
  const sent = now.outgoing.filter((call) => right.outgoing.includes(call))
  return [...keys.map((key) => `${key} was written`), ...sent.map((call) => `${call} was sent`)]
}

function wrongAnswers(
  to: string,
  answers: readonly VerificationAnswer[],
  groups: readonly Group[],
  rest: number,
): string[] {
  const wrong = answers.filter(({ question }) => question.wanted === 'refused')
  const accepted = wrong.filter((answer) => answer.accepted)
  const isOpen = (['unsigned', 'key'] as const).every((name) => accepted.some(({ question }) => question.name === name))
  if (isOpen && accepted.length === wrong.length)
    return [
      `${to} does not verify signatures: it accepted every delivery that was signed wrongly, and a delivery without any signature.`,
      '  → Anyone who knows the URL can call it. Verify each delivery before anything else, with the signing keys.',
    ]
  return [
    `${to} did not respond as it should:`,
    ...groups.flatMap((group, at) => told(group, groups, groups[at + 1]?.because)),
    ...(rest > 0
      ? [
          `The other ${plural(rest, 'delivery', 'deliveries')} of this check ${rest === 1 ? 'was' : 'were'} handled as they should be.`,
        ]
      : []),
  ]
}

function told({ because, answers, work }: Group, { length }: readonly Group[], next: string | undefined): string[] {
  const names = [...new Set(answers.map(({ question }) => question.name))].join(', ')
  const [first] = answers
  if (length > fewGroups) return [`  ✗ ${names}: ${because}.`]
  const done = work.length === 0 ? '' : `, but ${work.slice(0, 2).map(shown).join(', ')}`
  const row = `  ✗ ${names} (${first!.question.what}): ${answerText(first!)}${done}`
  return because === next ? [row] : [row, `    → ${because}.`]
}

function answerText({ attempt, accepted }: Reaction): string {
  const { status, error, note, body = '' } = attempt.outcome ?? {}
  if (accepted) return `accepted with ${status}`
  if (note !== undefined || status === undefined || status === 0) return shown(note ?? error ?? 'no response')
  return `rejected with ${status}${body === '' ? '' : ` ${shown(JSON.stringify(body))}`}`
}

function refusesAll(to: string, right: Reaction, words: string | undefined): string[] {
  const { queueCurrentSigningKey, queueNextSigningKey } = dialectsOf(right.sandbox.dialect).at(-1)!.environment
  const head = `${to} does not accept a delivery that is correctly signed: ${answerText(right).replace(/\.+$/, '')}.`
  if (words !== undefined)
    return [
      head,
      `  → The app expects the dialect of another vendor: leave the option dialect out, or set { sandbox: { dialect: '${words}' } }.`,
    ]
  return [
    head,
    `  → Does the app know the keys? They are in ${queueCurrentSigningKey} and ${queueNextSigningKey} during the check; if the app has read other keys before, pass those: { keys: { current, next } }.`,
    '  → Does the app compare the URL? Pass the URL that it expects: { to }.',
    '  → Does the app verify the raw text of the body? Use await request.text(), not JSON that is serialized again.',
    `  → Can the app handle the body ${shown(text(right.attempt.body))}? Pass a body that it can handle: { body }.`,
  ]
}

function shown(given: string): string {
  return excerpt(standardRedaction.text(given), 120)
}
