import { text } from '../../src/kernel/bytes.js'
import { parsedJson } from '../../src/kernel/parsed-json.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import { plainText } from '../../src/report/safe-text.js'
import type { MatcherInput } from '../received.js'
import { swallowedAborts } from './aborts.js'
import type { Chain } from './chain.js'
import { grouped } from './circumstance.js'
import { hintsFromContext } from './context-hints.js'
import { type HandlerErrors, thrownIn } from './handler-errors.js'
import { machineTimeHint } from './machine-time.js'
import { outdatedHint } from './outdated.js'
import { otherToken, type SandboxFacts, sandboxOf, wasUnhandled } from './sandbox-facts.js'
import { fromHere } from './test-location.js'

/** Known facts about a failure, from which its causes are determined. */
export interface Failed {
  readonly chain: Chain
  readonly hints?: readonly string[] | undefined
  /** Whether something expected is missing. Then any entry of the log may explain the failure. */
  readonly isMissing?: boolean | undefined
  /**
   * Returns whether several attempts of one message, each with an entry like the passed one, could explain the failure.
   * Default: always `false`.
   */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** Whether something exists that must not exist, or exists too often. */
  readonly isUnwanted?: boolean | undefined
  /** Whether the text of the failure already lists unused faults. */
  readonly tellsUnused?: boolean | undefined
  /** Text of the failure, if it does not come from a matcher of this package. */
  readonly message?: string | undefined
  /** Error messages that the failure already contains. The causes do not repeat these. */
  readonly said?: ReadonlySet<string> | undefined
  /** Hint about code that waits for virtual time while nothing moves it. */
  readonly waits?: string | undefined
  /** Hint about what the app waited for while virtual time did not move. */
  readonly standstill?: string | undefined
}

/** The causes of a failure. Each line is safe to print. */
export interface Causes {
  readonly proven: readonly string[]
  /** Likely causes, the most likely one first. */
  readonly hints: readonly string[]
  /**
   * The handler errors in `proven`, in the format in which a timeline prints them. The timeline does not repeat them.
   */
  readonly details: readonly string[]
}

interface Looked extends Failed {
  readonly evidence: MatcherInput
  readonly world: SandboxFacts
  readonly thrown: HandlerErrors
}

type Cause = (looked: Looked) => readonly string[]

const maxUnanswered = 2
const maxAborts = 2

/**
 * Requests that were rejected because the test had changed a token. Tests also cause rejections on purpose. So a
 * rejection counts as a cause only in two cases: the failure contains its error, or something is missing and the
 * rejected request was the last request.
 */
const refusedTokens: Cause = ({ evidence, message, isUnwanted, isMissing }) => {
  const requests = evidence.ofType('request')
  const isRefused = ({ note, response: answer }: EntryOf<'request'>): boolean =>
    answer?.status === 401 && note?.startsWith(otherToken) === true
  const isToldIn = ({ response: answer }: EntryOf<'request'>): boolean => {
    const { error } = (parsedJson(text(answer?.body ?? ('' as never))) ?? {}) as { error?: unknown }
    return typeof error === 'string' && message?.includes(error) === true
  }
  return (['queue', 'store'] as const).flatMap((service) => {
    const own = requests.filter((request) => request.service === service)
    const isLast = isMissing === true || isUnwanted === false
    const refused =
      message !== undefined ? own.findLast((one) => isRefused(one) && isToldIn(one)) : isLast ? own.at(-1) : undefined
    return refused !== undefined && isRefused(refused)
      ? evidence.redaction.text(`#${refused.seq} was rejected with 401. ${plainText(refused.note!)}`)
      : []
  })
}

/**
 * Requests of the app that were rejected or unhandled, and unhandled deliveries that concern the failure. Each URL is
 * named once. A URL is not named if its last delivery got a response.
 */
const unanswered: Cause = ({ world, evidence, chain, isUnwanted, message = '', said }) => {
  const runs = chain.subject.focus.flatMap((seq) => {
    const one = chain.entry(seq)
    return one !== undefined && 'runId' in one ? one.runId : []
  })
  // If the failure is about something that exists, an unhandled delivery explains the failure only if the delivery is
  // in the focus or caused an entry of the focus.
  const concerns = (attempt: EntryOf<'attempt'>): boolean =>
    isUnwanted === true
      ? chain.ledBy(attempt)
      : chain.has(attempt) || chain.isAt(attempt.url) || runs.includes(attempt.workflowRunId ?? '')
  const attempts = evidence.ofType('attempt')
  const urls = new Set(attempts.flatMap(({ url, outcome }) => (wasUnhandled.test(outcome?.note ?? '') ? url : [])))
  const toThese = urls.size === 0 ? [] : attempts.filter(({ url }) => urls.has(url))
  const own = [...grouped(toThese, ({ url }) => url)].flatMap(([url, group]) => {
    const { note = '' } = group.findLast(({ outcome }) => outcome !== undefined)?.outcome ?? {}
    return wasUnhandled.test(note) && !world.answersAt(url) && group.some(concerns) ? plainText(note) : []
  })
  const sentences = [...new Set([...world.refused, ...own])]
    .map((sentence) => evidence.redaction.text(fromHere(sentence)))
    .filter((sentence) => said?.has(sentence) !== true && !message.includes(sentence))
  const more = sentences.length - maxUnanswered
  return [
    ...sentences.slice(0, maxUnanswered),
    ...(more > 0 ? [`… and ${more} more rejected or unhandled requests.`] : []),
  ]
}

const thrown: Cause = ({ thrown }) => thrown.lines

/** Deliveries to workflow endpoints that did more work after they had submitted a step. */
const aborts: Cause = ({ evidence }) =>
  swallowedAborts(evidence)
    .slice(0, maxAborts)
    .map((sentence) => evidence.redaction.text(sentence))

const unused: Cause = ({ world, evidence, tellsUnused, message = '', said }) => {
  const sentences = world.unused
    .map((sentence) => fromHere(sentence))
    .filter((sentence) => said?.has(sentence) !== true && !message.includes(sentence))
  const [first, ...others] = tellsUnused === true ? [] : sentences
  if (first === undefined) return []
  const told = evidence.redaction.text(first)
  return [others.length === 0 ? told : `${told} ${others.length} more of the faults, scripts and stubs are unused.`]
}

/** Code that waits for virtual time. It explains the failure only if the test has timed out. */
const waiting: Cause = ({ waits, standstill, message = '' }) =>
  isTimeout.test(message) ? [standstill ?? [], waits ?? []].flat() : []

/** Matches the error messages of Vitest and Jest for a test that has timed out. */
const isTimeout = /timed out|exceeded timeout|time-?out/i

/** An object in `expect()` from before a reset or load. It explains the failure better than anything in its log. */
const outdated: Cause = ({ evidence }) => [outdatedHint(evidence) ?? []].flat()

const ofMatcher: Cause = ({ hints = [] }) => hints

const ofLog: Cause = ({ chain, isMissing, mayRepeat = () => false }) => {
  const isOwn = chain.own.size === 0 ? undefined : (seq: number): boolean => chain.own.has(seq)
  return hintsFromContext(chain, isOwn, isMissing === true, mayRepeat)
}

/** An app that reads the machine's clock. The log can suggest this cause, but cannot prove it. */
const machineTime: Cause = ({ evidence, message }) => [machineTimeHint(evidence, message) ?? []].flat()

/** All kinds of causes, in the order in which a failure prints them. */
const causes = {
  proven: [refusedTokens, unanswered, thrown, aborts, unused],
  hints: [outdated, waiting, ofMatcher, ofLog, machineTime],
} as const satisfies Record<string, readonly Cause[]>

export function causesOf(evidence: MatcherInput, failed: Failed): Causes {
  const looked = {
    ...failed,
    evidence,
    world: sandboxOf(evidence),
    thrown: thrownIn(evidence, failed.chain, failed.message),
  }
  const told = (some: readonly Cause[]): string[] => some.flatMap((cause) => cause(looked))
  return { proven: told(causes.proven), hints: told(causes.hints), details: looked.thrown.details }
}
