import type { Bytes } from '../../src/kernel/bytes.js'
import { plural } from '../../src/kernel/plural.js'
import type { EntryOf } from '../../src/kernel/traffic-log.js'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { plainText } from '../../src/report/safe-text.js'
import { timeSeenFrom } from '../../src/report/shown-times.js'
import { headerMap } from '../comparison-kinds.js'
import { isPlainObject, literal } from '../literal.js'
import { isOpen, type MessageLifecycle, stateOf } from '../message-lifecycle.js'
import { type ScoredCandidate, weightOf } from '../near-misses.js'
import type { MatcherInput } from '../received.js'
import { wrongWithSignature } from '../signatures.js'
import { changesWhenRewritten } from '../spellings.js'
import { waitHint } from './forecasts.js'

/** Returns hints about mistakes in a pattern. The compared fields, marked ✗, do not explain these mistakes. */
export function hintsOf(
  evidence: MatcherInput,
  pattern: { readonly to?: unknown; readonly headers?: unknown },
  nearest: readonly ScoredCandidate<unknown>[],
): string[] {
  const hints: string[] = []
  const { to } = pattern
  if (typeof to === 'string' && !/^[a-z]+:\/\//i.test(to) && !to.startsWith('*')) {
    hints.push(
      `\`to\` is compared with the whole URL. Write 'https://${plainText(to)}', or '*${plainText(to)}' for any host.`,
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

/**
 * Maximum number of entries whose headers a hint reads. Reading the headers of an attempt computes its signature, which
 * takes time.
 */
const maxRead = 200

/** Returns a hint for a header with the prefix of another dialect. */
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
      return `No header is named ${literal(name)}; there is ${literal(other)}. Service headers have the prefix of the publisher's dialect.`
    }
  }
  return undefined
}

const maxWaits = 3

/**
 * Returns hints about pending messages. Each hint states until when and why a message waits, and the call that delivers
 * it.
 */
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
  // Mention another message only if the first message waits for it, or if no pending message is among the nearest
  // candidates.
  const isNear = near.includes(first)
  for (const story of rest) {
    if (!isNear || told.some((hint) => hint.includes(evidence.name(story.id)))) told.push(waitHint(evidence, story))
  }
  return told
}

/** Returns hints about deliveries to which the app responded with 401. A hint states whether the signature is valid. */
export function refusalHints(evidence: MatcherInput, nearest: readonly ScoredCandidate<MessageLifecycle>[]): string[] {
  return nearest.flatMap(({ thing: { id, last } }) => {
    if (last?.outcome?.status !== 401 || isPrepared(last, evidence)) return []
    const flaws = wrongWithSignature(evidence, last)
    if (flaws === undefined) return []
    const name = evidence.name(id)
    if (flaws.length > 0)
      return [
        `${name} was rejected with 401, and its signature is invalid: ${flaws.join(', ')} ${flaws.length === 1 ? 'does' : 'do'} not match.`,
      ]
    const rotations = evidence
      .ofType('setting')
      .filter((entry) => entry.resource === 'signing-keys' && entry.seq < last.seq)
    if (rotations.length > 0) return [`${name} ${refusedSince(rotations, last)}`]
    return [
      `${name} was rejected with 401, although its signature is valid for the bytes that were sent. ${whatVerifyingTakes(last.body)}`,
    ]
  })
}

/**
 * Returns whether the test itself determined the response, with a fault rule, a script or a fixed response. Then no app
 * has verified the signature.
 */
function isPrepared(attempt: EntryOf<'attempt'>, evidence: MatcherInput): boolean {
  const { reply } = attempt as Partial<Attempt>
  const isScripted = attempt.fault === 'status' || reply?.isGiven === true
  return isScripted || evidence.ofType('fault').some(({ cause, fault }) => cause === attempt.seq && fault === 'status')
}

/** Returns the hint for an app that has old keys: the keys were rotated after the app had loaded them. */
function refusedSince(rotations: readonly EntryOf<'setting'>[], refused: EntryOf<'attempt'>): string {
  const { at, seq } = rotations.at(-1)!
  const known =
    rotations.length === 1
      ? 'An app that loaded its keys before the rotation has this key as the next signing key, so it must verify with both keys.'
      : `The keys were rotated ${rotations.length} times, so an app with the first keys does not have this key. Load the keys again.`
  return `was rejected with 401, although its signature is valid: the signature uses the key that became current when the keys were rotated at ${timeSeenFrom(at, refused.at)} (#${seq}). ${known}`
}

/**
 * Returns a hint if the pattern expects N attempts and the message had N retries, because N retries mean N + 1
 * attempts.
 */
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
        `${plural(Number(wanted), 'retry means', 'retries mean')} ${Number(wanted) + 1} attempts, because the first attempt is not a retry. Expect ${Number(wanted) + 1} attempts, or publish with one retry less.`,
      ]
    : []
}

/** Returns a hint if the nearest message has no dead letter because one of its attempts delivered it. */
export function deliveredHints(
  evidence: MatcherInput,
  nearest: readonly ScoredCandidate<MessageLifecycle>[],
): string[] {
  const [near] = nearest
  if (near === undefined || stateOf(near.thing) !== 'DELIVERED') return []
  if (near.compared.some(({ name, differences }) => weightOf(name) >= 1 && differences.length > 0)) return []
  const { id, last } = near.thing
  if (last === undefined) return []
  const attempts = plural(last.maxRetries + 1, 'attempt')
  return [
    `${evidence.name(id)} has no dead letter, because attempt ${last.retried + 1} (#${last.seq}) delivered it. A dead letter needs all ${attempts} to fail.`,
  ]
}

/**
 * Returns advice about verifying a signature. If a framework parses the body and the app serializes it again, the bytes
 * differ from the signed bytes.
 */
function whatVerifyingTakes(body: Bytes): string {
  return changesWhenRewritten(body) === true
    ? 'The body changes when JSON is parsed and serialized again, so an app that verifies JSON.stringify(await request.json()) rejects the delivery: verify await request.text(). If the app does that already, check its signing keys and URL.'
    : 'Verify with the keys of this sandbox, which are in sandbox.env, and with the URL that the message was published to.'
}
