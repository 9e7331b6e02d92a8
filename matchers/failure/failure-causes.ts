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

/** What is known about a failure when its causes are looked for. */
export interface Failed {
  readonly chain: Chain
  /** Hints of the matcher that failed. */
  readonly hints?: readonly string[] | undefined
  /** Something that was expected is missing: anything in the log may have kept it from happening. */
  readonly isMissing?: boolean | undefined
  /** Whether it would explain the failure that several attempts did this, or what this one did; nothing would by default. */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** It is about something that is there. */
  readonly isUnwanted?: boolean | undefined
  /** The failure itself lists what is unused. */
  readonly tellsUnused?: boolean | undefined
  /** The text of a failure that no matcher wrote. */
  readonly message?: string | undefined
  /** Sentences of a failure that this package has composed: they are not said again. */
  readonly said?: ReadonlySet<string> | undefined
  /** Who waits in virtual time while nothing moves it. */
  readonly waits?: string | undefined
  /** What the app waited for while time stood still. */
  readonly standstill?: string | undefined
}

/** The causes of a failure, each as lines that are safe to print. */
export interface Causes {
  /** What the log proves. */
  readonly proven: readonly string[]
  /** What explains the failure, or is only likely, the most telling one first. */
  readonly hints: readonly string[]
  /** Errors of handlers that `proven` names, as the details of a timeline tell them. */
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
 * Requests that were refused for a token that the test had set. Tests refuse one on purpose, too: the failure is the error
 * that came of it, or about something that is missing, and nothing else has reached that service since.
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
      ? evidence.redaction.text(`#${refused.seq} was answered 401. ${plainText(refused.note!)}`)
      : []
  })
}

/**
 * Requests of the app that were refused or that nobody answered, and deliveries of what the failure is about: those say it
 * once for each url, unless its last one was answered.
 */
const unanswered: Cause = ({ world, evidence, chain, isUnwanted, message = '', said }) => {
  const runs = evidence.entries.flatMap((one) =>
    'runId' in one && chain.subject.focus.includes(one.seq) ? one.runId : [],
  )
  // That nobody answers explains what came of it, and nothing else that is there.
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
  return [...all.slice(0, maxUnanswered), ...(more > 0 ? [`… and ${more} more that nobody answered.`] : [])]
}

const thrown: Cause = ({ thrown }) => thrown.lines

/** Calls of workflow endpoints that went on after they had submitted a step. */
const aborts: Cause = ({ evidence }) =>
  swallowedAborts(evidence)
    .slice(0, maxAborts)
    .map((sentence) => evidence.redaction.text(sentence))

/** Faults, scripts and stubs that nothing met. */
const unused: Cause = ({ world, evidence, tellsUnused, message = '', said }) => {
  const sentences = world.unused
    .map((sentence) => fromHere(sentence))
    .filter((sentence) => said?.has(sentence) !== true && !message.includes(sentence))
  const [first, ...others] = tellsUnused === true ? [] : sentences
  if (first === undefined) return []
  const told = evidence.redaction.text(first)
  return [others.length === 0 ? told : `${told} ${others.length} more never did.`]
}

/** Of a test that ended in another way than by its timeout, such a wait explains nothing. */
const waiting: Cause = ({ waits, standstill, message = '' }) =>
  isTimeout.test(message) ? [standstill ?? [], waits ?? []].flat() : []

/** As Vitest and Jest end a test that takes too long. */
const isTimeout = /timed out|exceeded timeout|time-?out/i

const ofMatcher: Cause = ({ hints = [] }) => hints

const ofLog: Cause = ({ evidence, chain, isMissing, mayRepeat = () => false }) => {
  const isOwn = chain.own.size === 0 ? undefined : (seq: number): boolean => chain.own.has(seq)
  return hintsFromContext(evidence, isOwn, isMissing === true, mayRepeat)
}

/** An app that reads the clock of the machine: the log only suggests it. */
const machineTime: Cause = ({ evidence, message }) => [machineTimeHint(evidence, message) ?? []].flat()

/** Every failure names its causes in this order: what the log proves comes first, what is only likely last. */
const causes = {
  proven: [refusedTokens, unanswered, thrown, aborts, unused],
  hints: [waiting, ofMatcher, ofLog, machineTime],
} as const satisfies Record<string, readonly Cause[]>

/** The causes of a failure, in their order. */
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
