import type { Bytes } from '../../src/kernel/bytes.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { plainText } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import { headerMap } from '../comparison-kinds.js'
import { isPlainObject, literal } from '../literal.js'
import { isOpen, type MessageLifecycle, stateOf } from '../message-lifecycle.js'
import type { ScoredCandidate } from '../near-misses.js'
import type { MatcherInput } from '../received.js'
import { wrongWithSignature } from '../signatures.js'
import { changesWhenRewritten } from '../spellings.js'
import { waitHint } from './forecasts.js'

/** Sentences for slips that the ✗ alone does not explain. */
export function hintsOf(
  evidence: MatcherInput,
  pattern: { readonly to?: unknown; readonly headers?: unknown },
  nearest: readonly ScoredCandidate<unknown>[],
): string[] {
  const hints: string[] = []
  const { to } = pattern
  if (typeof to === 'string' && !/^[a-z]+:\/\//i.test(to) && !to.startsWith('*')) {
    hints.push(
      `to is compared with the whole url: write 'https://${plainText(to)}', or '*${plainText(to)}' for any host.`,
    )
  }
  const prefixed = prefixHint(evidence, pattern.headers)
  if (
    prefixed !== undefined &&
    nearest.some(({ compared }) => compared.some((one) => one.name === 'headers' && one.differences.length > 0))
  ) {
    hints.push(prefixed)
  }
  return hints
}

/** Entries whose headers a hint reads: reading those of an attempt signs it. */
const maxRead = 200

/** The prefix of the service's own headers is another word in each dialect. */
function prefixHint(evidence: MatcherInput, wanted: unknown): string | undefined {
  if (!isPlainObject(wanted)) return undefined
  const seen = new Set<string>()
  for (const type of ['published', 'attempt'] as const) {
    for (const entry of evidence.ofType(type).slice(-maxRead)) {
      for (const name of headerMap(entry.headers).keys()) seen.add(name)
    }
  }
  for (const name of Object.keys(wanted)) {
    const lower = name.toLowerCase()
    const rest = lower.slice(lower.indexOf('-'))
    const other = [...seen].find((header) => header !== lower && header.includes('-') && header.endsWith(rest))
    if (!seen.has(lower) && other !== undefined && rest.length > 2) {
      return `there is no header ${literal(name)}, but ${literal(other)}: headers of the service carry the prefix of their publisher's words.`
    }
  }
  return undefined
}

const maxWaits = 3

/** Messages that have not come to their end: until when they wait, why, and the call that gets them there. */
export function waitHints(
  evidence: MatcherInput,
  stories: Iterable<MessageLifecycle>,
  nearest: readonly ScoredCandidate<MessageLifecycle>[],
): string[] {
  const near = nearest.map(({ thing }) => thing)
  const others: MessageLifecycle[] = []
  for (const story of stories) {
    if (others.length >= maxWaits) break
    if (!near.includes(story) && isOpen(stateOf(story))) others.push(story)
  }
  const open = [...near.filter((story) => isOpen(stateOf(story))), ...others]
  const [first, ...rest] = open.slice(0, maxWaits)
  if (first === undefined) return []
  const told = [waitHint(evidence, first)]
  // Others matter when it waits for them, or when none of them is nearer than another.
  const isNear = near.includes(first)
  for (const story of rest) {
    if (!isNear || told.some((hint) => hint.includes(evidence.name(story.id)))) told.push(waitHint(evidence, story))
  }
  return told
}

/** Deliveries that an app refused with 401: whether it was right about their signatures. */
export function refusalHints(evidence: MatcherInput, nearest: readonly ScoredCandidate<MessageLifecycle>[]): string[] {
  return nearest.flatMap(({ thing: { id, last } }) => {
    if (last?.outcome?.status !== 401 || isPrepared(last, evidence)) return []
    const flaws = wrongWithSignature(evidence, last)
    if (flaws === undefined) return []
    const name = evidence.name(id)
    if (flaws.length > 0)
      return [`${name} was refused with 401, and rightly so: wrong with its signature is ${flaws.join(', ')}.`]
    const rotations = evidence
      .ofType('setting')
      .filter((entry) => entry.resource === 'signing-keys' && entry.seq < last.seq)
    if (rotations.length > 0) return [`${name} ${refusedSince(rotations, last)}`]
    return [
      `${name} was refused with 401 although its signature is valid for the bytes that were sent. ${whatVerifyingTakes(last.body)}`,
    ]
  })
}

/** Whether the test itself gave the answer, by a rule, a script or a destination without code: no app has verified anything. */
function isPrepared(attempt: EntryOf<'attempt'>, evidence: MatcherInput): boolean {
  const { reply } = attempt as Partial<Attempt>
  const isScripted = attempt.fault === 'status' || reply?.isGiven === true
  return isScripted || evidence.ofType('fault').some(({ cause, fault }) => cause === attempt.seq && fault === 'status')
}

/** An app that was started before keys were rotated has the former pair, of which the second is the current one now. */
function refusedSince(rotations: readonly EntryOf<'setting'>[], refused: EntryOf<'attempt'>): string {
  const { at, seq } = rotations.at(-1)!
  const known =
    rotations.length === 1
      ? 'An app that has the keys of before knows it as the next signing key, and has to verify with both.'
      : `They were rotated ${rotations.length} times: an app that has the keys of the beginning does not know it.`
  return `was refused with 401 although its signature is valid, by the key that is current since the keys were rotated at ${timeSeenFrom(at, refused.at)} (#${seq}). ${known}`
}

/** Of attempts, the pattern names as many as there were retries. */
export function retriesHints(
  { attempts }: { readonly attempts?: unknown },
  nearest: readonly ScoredCandidate<MessageLifecycle>[],
): string[] {
  const wanted = Array.isArray(attempts) ? attempts.length : attempts
  const isMistaken = nearest.some(
    ({ thing }) =>
      stateOf(thing) === 'FAILED' && wanted === thing.last?.maxRetries && thing.attempts.length === Number(wanted) + 1,
  )
  return isMistaken && wanted !== 0
    ? [
        `${plural(Number(wanted), 'retry is', 'retries are')} ${Number(wanted) + 1} attempts: the first one is no retry.`,
      ]
    : []
}

/** Frameworks that parse a body hand their app other bytes than those that were signed. Where these differ, that is all. */
function whatVerifyingTakes(body: Bytes): string {
  return changesWhenRewritten(body) === true
    ? 'Its body changes when it is parsed and serialized again: verify the raw text, await request.text(), not JSON.stringify(await request.json()).'
    : 'Verify with the keys of this sandbox (sandbox.env has them) and with the url that the message was published to.'
}
