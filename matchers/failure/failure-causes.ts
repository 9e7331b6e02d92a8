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
import { otherToken, type SandboxFacts, sandboxOf, wasUnhandled } from './sandbox-facts.js'
import { fromHere } from './test-location.js'

/** Facts about a failure that are known before its causes are determined. */
export interface Failed {
  readonly chain: Chain
  /** Hints of the matcher that failed. */
  readonly hints?: readonly string[] | undefined
  /** Whether something expected is missing, so that any entry of the log may explain it. */
  readonly isMissing?: boolean | undefined
  /** Returns whether several attempts that caused this entry would explain the failure; always `false` by default. */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** Whether the failure is about something that exists. */
  readonly isUnwanted?: boolean | undefined
  /** Whether the failure itself lists unused faults. */
  readonly tellsUnused?: boolean | undefined
  /** The text of a failure that no matcher composed. */
  readonly message?: string | undefined
  /** Messages that the failure already contains and that are not repeated. */
  readonly said?: ReadonlySet<string> | undefined
  /** Hint about code that waits for virtual time while nothing moves it. */
  readonly waits?: string | undefined
  /** Hint about what the app waited for while virtual time did not move. */
  readonly standstill?: string | undefined
}

/** The causes of a failure, each as lines that are safe to print. */
export interface Causes {
  /** Causes that the log proves. */
  readonly proven: readonly string[]
  /** Likely causes, the most likely one first. */
  readonly hints: readonly string[]
  /** Handler errors that `proven` names, as the details of a timeline print them. */
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
 * Requests that were rejected because of a token that the test had set. Tests also reject requests on purpose. So this
 * is a cause only if the failure is the resulting error, or if something is missing and that request was the last one.
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
 * Rejected or unhandled requests of the app, and unhandled deliveries that the failure is about. A URL is named once, and
 * not at all if its last delivery got a response.
 */
const unanswered: Cause = ({ world, evidence, chain, isUnwanted, message = '', said }) => {
  const runs = evidence.entries.flatMap((one) =>
    'runId' in one && chain.subject.focus.includes(one.seq) ? one.runId : [],
  )
  // An unhandled delivery explains what it caused, but not something else that exists.
  const concerns = (attempt: EntryOf<'attempt'>): boolean =>
    isUnwanted === true
      ? chain.ledBy(attempt)
      : chain.has(attempt) || chain.isAt(attempt.url) || runs.includes(attempt.workflowRunId ?? '')
  const own = [...grouped(evidence.ofType('attempt'), ({ url }) => url)].flatMap(([url, attempts]) => {
    const { note = '' } = attempts.findLast(({ outcome }) => outcome !== undefined)?.outcome ?? {}
    return wasUnhandled.test(note) && !world.answersAt(url) && attempts.some(concerns) ? plainText(note) : []
  })
  const all = [...new Set([...world.refused, ...own])]
    .map((sentence) => evidence.redaction.text(fromHere(sentence)))
    .filter((sentence) => said?.has(sentence) !== true && !message.includes(sentence))
  const more = all.length - maxUnanswered
  return [...all.slice(0, maxUnanswered), ...(more > 0 ? [`… and ${more} more rejected or unhandled requests.`] : [])]
}

const thrown: Cause = ({ thrown }) => thrown.lines

/** Deliveries to workflow endpoints that continued after they had submitted a step. */
const aborts: Cause = ({ evidence }) =>
  swallowedAborts(evidence)
    .slice(0, maxAborts)
    .map((sentence) => evidence.redaction.text(sentence))

/** Unused faults, script steps and stubs. */
const unused: Cause = ({ world, evidence, tellsUnused, message = '', said }) => {
  const sentences = world.unused
    .map((sentence) => fromHere(sentence))
    .filter((sentence) => said?.has(sentence) !== true && !message.includes(sentence))
  const [first, ...others] = tellsUnused === true ? [] : sentences
  if (first === undefined) return []
  const told = evidence.redaction.text(first)
  return [others.length === 0 ? told : `${told} ${others.length} more are unused.`]
}

/** Waits for virtual time, which only explain a test that ended by its timeout. */
const waiting: Cause = ({ waits, standstill, message = '' }) =>
  isTimeout.test(message) ? [standstill ?? [], waits ?? []].flat() : []

/** Matches the error of Vitest and Jest for a test that takes too long. */
const isTimeout = /timed out|exceeded timeout|time-?out/i

const ofMatcher: Cause = ({ hints = [] }) => hints

const ofLog: Cause = ({ evidence, chain, isMissing, mayRepeat = () => false }) => {
  const isOwn = chain.own.size === 0 ? undefined : (seq: number): boolean => chain.own.has(seq)
  return hintsFromContext(evidence, isOwn, isMissing === true, mayRepeat)
}

/** An app that reads the machine's clock, which the log suggests but does not prove. */
const machineTime: Cause = ({ evidence, message }) => [machineTimeHint(evidence, message) ?? []].flat()

/** The order in which a failure names its causes: proven ones first, likely ones last. */
const causes = {
  proven: [refusedTokens, unanswered, thrown, aborts, unused],
  hints: [waiting, ofMatcher, ofLog, machineTime],
} as const satisfies Record<string, readonly Cause[]>

/** Returns the causes of a failure, in the order in which they are printed. */
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
