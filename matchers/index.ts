import { type FailureData, type FailureMeta, rememberFailure } from '../src/report/failure.js'
import { failureText } from '../src/report/failure-text.js'
import { commandOf, entryOf, insideText, messageTo } from './asymmetric.js'
import { type CommandArgPattern, executed } from './command-matchers.js'
import { type CostOptions, type CostPattern, spent } from './cost-matcher.js'
import { holdsEverywhere } from './explorations.js'
import { painted } from './failure/colours.js'
import { placeOf, type TestLocation } from './failure/test-location.js'
import { isIdle } from './idle.js'
import { hasKey, type KeyPattern } from './key-matchers.js'
import type { AsymmetricMatcher } from './literal.js'
import type {
  ExploredSubject,
  IdleSubject,
  On,
  OnKeys,
  OnLog,
  OnQueue,
  OnSchedules,
  OnStore,
  SignedSubject,
} from './matcher-subjects.js'
import { calledBack, deadLettered, deduplicated, delivered, published } from './message-matchers.js'
import { called, type OutboundPattern } from './outbound-matchers.js'
import type {
  AttemptItem,
  AttemptPattern,
  CallbackPattern,
  DeadLetterPattern,
  DeduplicatedPattern,
  DeliveredPattern,
  PublishedPattern,
  Text,
} from './patterns.js'
import type { CountRange } from './range.js'
import { type RequestPattern, receivedRequest } from './requests.js'
import {
  hasRun,
  hasStep,
  hasWaitedFor,
  type WorkflowRunPattern,
  type WorkflowStepItem,
  type WorkflowStepPattern,
  type WorkflowWaitPattern,
} from './run-matchers.js'
import { type SchedulePattern, scheduled } from './schedule-matchers.js'
import { followsSequence } from './sequence.js'
import { type ReceiverKeys, type SignaturePattern, signed } from './signatures.js'
import type { SequenceStep } from './step-matchers.js'
import type { MatchOptions, Verdict } from './verdict.js'

export type {
  AsymmetricMatcher,
  AttemptItem,
  AttemptPattern,
  CallbackPattern,
  CommandArgPattern,
  CostOptions,
  CostPattern,
  CountRange,
  DeadLetterPattern,
  DeduplicatedPattern,
  DeliveredPattern,
  KeyPattern,
  MatchOptions,
  OutboundPattern,
  PublishedPattern,
  ReceiverKeys,
  RequestPattern,
  SchedulePattern,
  SequenceStep,
  SignaturePattern,
  TestLocation,
  Verdict,
  WorkflowRunPattern,
  WorkflowStepItem,
  WorkflowStepPattern,
  WorkflowWaitPattern,
}
export { commandOf, entryOf, messageTo }

/** What a matcher hands to the runner. */
export interface MatcherResult {
  readonly pass: boolean
  message(): string
  /** Of a failure: what is known about it, as data. Runners keep it in the error that they make of the message. */
  readonly meta?: object
}

/** What a runner tells a matcher; all of it may be missing. */
interface RunnerState {
  readonly isNot?: boolean
  /** Its colours, among others. */
  readonly utils?: unknown
}

/**
 * The matchers as assertions return them, for every runner: `R` is what an assertion returns (`void`, or a promise
 * behind `.resolves`), `T` what was given to `expect()`.
 */
export interface SandboxMatchers<R = unknown, T = unknown> {
  /**
   * The code under test sent this command, by whichever way, and the store ran it. The words may be fewer than those
   * of the command. A last argument `{ times: n }` counts.
   * @example expect(sandbox.store).toHaveExecuted('SET', 'profile:42', expect.anything(), 'EX', '3600')
   */
  toHaveExecuted(...argv: OnStore<T, readonly (CommandArgPattern | MatchOptions)[]>): R
  /**
   * The store holds this key now.
   * @example expect(sandbox.store).toHaveKey('profile:42', { type: 'string', ttl: '1h', value: { name: 'Ada' } })
   */
  toHaveKey(...given: OnKeys<T, [key: string, pattern?: KeyPattern]>): R
  /**
   * The queue accepted such a message.
   * @example expect(sandbox.queue).toHavePublished({ to: 'https://shop.test/orders', retries: 3, body: { id: 42 } })
   */
  toHavePublished(...given: OnQueue<T, [pattern?: PublishedPattern, options?: MatchOptions]>): R
  /**
   * Such a message came to its end, delivered unless `state` says otherwise.
   * @example expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [500, 200] })
   */
  toHaveDelivered(...given: OnQueue<T, [pattern?: DeliveredPattern, options?: MatchOptions]>): R
  /**
   * Such a message went to the dead-letter queue.
   * @example expect(sandbox.queue).toHaveDeadLetter({ to: 'https://shop.test/orders', status: 503 })
   */
  toHaveDeadLetter(...given: OnQueue<T, [pattern?: DeadLetterPattern, options?: MatchOptions]>): R
  /**
   * Such a callback or failure callback arrived.
   * @example expect(sandbox.queue).toHaveDeliveredCallback({ to: 'https://shop.test/failed', status: 503, retried: 2 })
   */
  toHaveDeliveredCallback(...given: OnQueue<T, [pattern?: CallbackPattern, options?: MatchOptions]>): R
  /**
   * The queue recognised such a message as published before.
   * @example expect(sandbox.queue).toHaveDeduplicated({ to: 'https://shop.test/orders' }, { times: 1 })
   */
  toHaveDeduplicated(...given: OnQueue<T, [pattern?: DeduplicatedPattern, options?: MatchOptions]>): R
  /**
   * Such a delivery carries a signature that its receiver would accept. On the queue, a recorder, one delivery, or
   * `{ url, headers, body }` with the `keys` of the receiver.
   * @example
   * const orders = sandbox.destinations.record('https://shop.test/orders')
   * await checkout()
   * await sandbox.clock.drain()
   * expect(orders.last()).toHaveValidSignature({ key: 'current' })
   */
  toHaveValidSignature(
    ...given: On<
      T,
      SignedSubject,
      'write expect(sandbox.queue), expect(recorder) or expect(recorder.last())',
      [pattern?: SignaturePattern, options?: MatchOptions]
    >
  ): R
  /**
   * What the code under test has cost so far, or since a mark: what one user action costs.
   * @example
   * const mark = sandbox.traffic.mark()
   * await checkout()
   * expect(sandbox).toHaveCost({ messages: '<=3', commands: '<=5' }, { since: mark })
   */
  toHaveCost(...given: OnLog<T, [pattern: CostPattern, options?: CostOptions]>): R
  /**
   * Such a schedule exists now.
   * @example expect(sandbox.queue).toHaveSchedule({ cron: '0 3 * * *', to: 'https://shop.test/report' })
   */
  toHaveSchedule(...given: OnSchedules<T, [pattern?: SchedulePattern, options?: MatchOptions]>): R
  /**
   * Such an HTTP request arrived at one of the services.
   * @example expect(sandbox).toHaveReceivedRequest({ service: 'queue', status: 401 })
   */
  toHaveReceivedRequest(...given: OnLog<T, [pattern?: RequestPattern, options?: MatchOptions]>): R
  /**
   * The app made such a call to a host that `sandbox.outbound` has registered: a url, a method in front of it, or a pattern.
   * @example expect(sandbox).toHaveOutboundRequest('POST https://bank.test/charges', { times: 1 })
   */
  toHaveOutboundRequest(...given: OnLog<T, [call?: string | OutboundPattern, options?: MatchOptions]>): R
  /**
   * These things happened in this order, with anything between them.
   * @example expect(sandbox).toFollowSequence([{ type: 'attempt', status: 500 }, { type: 'command', argv: ['INCR'] }])
   */
  toFollowSequence(...given: OnLog<T, [steps: readonly SequenceStep[]]>): R
  /**
   * A workflow ran so.
   * @example expect(sandbox).toHaveWorkflowRun({ workflow: 'https://shop.test/api/order', state: 'success' })
   */
  toHaveWorkflowRun(...given: OnLog<T, [pattern?: WorkflowRunPattern, options?: MatchOptions]>): R
  /**
   * A workflow run has a step of this name.
   * @example expect(sandbox).toHaveWorkflowStep('charge', { attempts: 2, result: { id: 'ch_1' } })
   */
  toHaveWorkflowStep(...given: OnLog<T, [name: Text, pattern?: WorkflowStepPattern, options?: MatchOptions]>): R
  /**
   * A step of a workflow run waits for this event, or has waited for it.
   * @example expect(sandbox).toHaveWorkflowWait('approved', { outcome: 'received' })
   */
  toHaveWorkflowWait(...given: OnLog<T, [event: Text, pattern?: WorkflowWaitPattern, options?: MatchOptions]>): R
  /**
   * Every fault that `exploreFaults()` placed, or every order that `exploreInterleavings()` tried, leaves the world as it has to be.
   * @example
   * const tried = await exploreInterleavings({
   *   setup: ({ store }) => void store.run('SET', 'stock', 2),
   *   clients: { alice: buyOne, bob: buyOne },
   *   holds: ({ store }) => store.get('stock') === '0',
   * })
   * expect(tried).toHold()
   */
  toHold(...given: On<T, ExploredSubject, 'write expect(await exploreFaults(…))', []>): R
  /**
   * Nothing is left to happen: no timer but schedules, and no unused fault or script step.
   * @example
   * await sandbox.clock.drain()
   * expect(sandbox).toBeIdle()
   */
  toBeIdle(...given: On<T, IdleSubject, 'write expect(sandbox)', []>): R
}

/** Matchers for places inside of other values, as `expect` offers them: `expect.messageTo(…)`. */
export interface SandboxAsymmetricMatchers {
  /** A message: an entry that published it, one of its deliveries, or what `queue.publish()` returned. */
  messageTo: typeof messageTo
  /** A command: an entry of the log, or a list of words as a client sends them. */
  commandOf: typeof commandOf
  /** An entry of the log, as a step of `toFollowSequence` names it. */
  entryOf: typeof entryOf
}

/** What is given to `expect()` and the pattern → the verdict. */
export type Evaluator = (received: unknown, ...given: never[]) => Verdict

/** The functions behind the matchers: what is given to `expect()` and the pattern → the verdict. */
export const evaluators: { readonly [Name in keyof SandboxMatchers]: Evaluator } = {
  toHaveExecuted: executed,
  toHaveKey: hasKey,
  toHavePublished: published,
  toHaveDelivered: delivered,
  toHaveDeadLetter: deadLettered,
  toHaveDeliveredCallback: calledBack,
  toHaveDeduplicated: deduplicated,
  toHaveValidSignature: signed,
  toHaveCost: spent,
  toHaveSchedule: scheduled,
  toHaveReceivedRequest: receivedRequest,
  toHaveOutboundRequest: called,
  toFollowSequence: followsSequence,
  toHaveWorkflowRun: hasRun,
  toHaveWorkflowStep: hasStep,
  toHaveWorkflowWait: hasWaitedFor,
  toHold: holdsEverywhere,
  toBeIdle: isIdle,
}

/** A matcher as runners call it: `this` is the runner's state. */
// biome-ignore lint/suspicious/noExplicitAny: runners hand over whatever the test wrote
export type MatcherFunction = (this: unknown, received: unknown, ...given: any[]) => MatcherResult

/**
 * The matchers as plain objects, without a runner.
 * @example expect.extend(sandboxMatchers)
 */
export const sandboxMatchers: {
  readonly [Name in keyof SandboxMatchers | keyof SandboxAsymmetricMatchers]: MatcherFunction
} = {
  ...matchersOf(evaluators),
  messageTo: inside('messageTo', messageTo),
  commandOf: inside('commandOf', commandOf),
  entryOf: inside('entryOf', entryOf),
}

/** How many arguments each takes; one too many is a field outside of its pattern. */
const most: Readonly<Partial<Record<keyof SandboxMatchers, number>>> = {
  toFollowSequence: 1,
  toBeIdle: 0,
  toHold: 0,
  toHaveWorkflowStep: 3,
  toHaveWorkflowWait: 3,
  toHaveExecuted: Number.POSITIVE_INFINITY,
}

function matchersOf(rows: typeof evaluators): { readonly [Name in keyof SandboxMatchers]: MatcherFunction } {
  const names = Object.keys(rows) as (keyof SandboxMatchers)[]
  return Object.fromEntries(names.map((name) => [name, matcher(name)])) as never
}

function matcher(name: keyof SandboxMatchers): MatcherFunction {
  return function (received, ...given) {
    const taken = most[name] ?? 2
    if (given.length > taken) {
      throw new TypeError(
        `${name}() takes ${taken === 0 ? 'no argument' : `at most ${taken === 1 ? 'one argument' : `${taken} arguments`}`}, got ${given.length}.`,
      )
    }
    const verdict = evaluators[name](received, ...(given as never[]))
    const { isNot = false, utils } = (this ?? {}) as RunnerState
    let failure: FailureData | undefined
    const failed = (): FailureData => {
      failure ??= verdict.failure(isNot, placeOf(this))
      return failure
    }
    const message = (): string => {
      const text = failureText(failed())
      rememberFailure(text, failed())
      // Its report has a form of its own.
      return name === 'toHold' ? text : painted(failed(), utils)
    }
    if (verdict.pass !== isNot) return { pass: verdict.pass, message }
    return {
      pass: verdict.pass,
      message,
      // A getter: as part of another value nothing but the verdict is asked for.
      get meta(): FailureMeta {
        return { stuntdouble: failed() }
      },
    }
  }
}

function inside(name: string, make: (...given: never[]) => AsymmetricMatcher): MatcherFunction {
  return function (received, ...given) {
    const isNot = (this as RunnerState | undefined)?.isNot === true
    const pass = make(...(given as never[])).asymmetricMatch(received)
    return { pass, message: () => insideText(name, given, received, isNot) }
  }
}
