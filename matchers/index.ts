import { type FailureData, type FailureMeta, rememberFailure } from '../src/report/failure.js'
import { failureText } from '../src/report/failure-text.js'
import { commandOf, entryOf, insideText, messageTo } from './asymmetric.js'
import { type BulkActionPattern, hasBulkAction } from './bulk-action-matchers.js'
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
  type StepFlowControl,
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
  BulkActionPattern,
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
  StepFlowControl,
  TestLocation,
  Verdict,
  WorkflowRunPattern,
  WorkflowStepItem,
  WorkflowStepPattern,
  WorkflowWaitPattern,
}
export { commandOf, entryOf, messageTo }

/** Result of a matcher, as test runners expect it. */
export interface MatcherResult {
  /** Whether the value in `expect()` matches. `.not` does not change it. */
  readonly pass: boolean
  message(): string
  /** Data of the failure. The test runner creates an error from the message and keeps this data in the error. */
  readonly meta?: object
}

/** State that a runner passes to a matcher. Any part may be missing. */
interface RunnerState {
  readonly isNot?: boolean
  /** Helper functions of the test runner, such as its color functions. */
  readonly utils?: unknown
}

/**
 * The matchers as methods of the object that `expect()` returns, for every runner. `R` is the return type (`void`, or a
 * promise after `.resolves`), `T` the type of the value in `expect()`.
 */
export interface SandboxMatchers<R = unknown, T = unknown> {
  /**
   * Checks that the app sent this command and the store ran it. The command may have more arguments than the pattern.
   * If the last argument is `{ times: n }`, the app must have sent the command `n` times. Default: one or more times.
   * @example expect(sandbox.store).toHaveExecuted('SET', 'profile:42', expect.anything(), 'EX', '3600')
   */
  toHaveExecuted(...argv: OnStore<T, readonly (CommandArgPattern | MatchOptions)[]>): R
  /**
   * Checks that the store contains this key now, with the given value, TTL and type.
   * @example expect(sandbox.store).toHaveKey('profile:42', { type: 'string', ttl: '1h', value: { name: 'Ada' } })
   */
  toHaveKey(...given: OnKeys<T, [key: string, pattern?: KeyPattern]>): R
  /**
   * Checks that the queue accepted a message with these fields.
   * @example expect(sandbox.queue).toHavePublished({ to: 'https://shop.test/orders', retries: 3, body: { id: 42 } })
   */
  toHavePublished(...given: OnQueue<T, [pattern?: PublishedPattern, options?: MatchOptions]>): R
  /**
   * Checks that a message with these fields was delivered, or reached the given `state`.
   * @example expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [500, 200] })
   */
  toHaveDelivered(...given: OnQueue<T, [pattern?: DeliveredPattern, options?: MatchOptions]>): R
  /**
   * Checks that a message with these fields went to the dead-letter queue.
   * @example expect(sandbox.queue).toHaveDeadLetter({ to: 'https://shop.test/orders', status: 503 })
   */
  toHaveDeadLetter(...given: OnQueue<T, [pattern?: DeadLetterPattern, options?: MatchOptions]>): R
  /**
   * Checks that a callback or failure callback with these fields was delivered.
   * @example expect(sandbox.queue).toHaveDeliveredCallback({ to: 'https://shop.test/failed', status: 503, retried: 2 })
   */
  toHaveDeliveredCallback(...given: OnQueue<T, [pattern?: CallbackPattern, options?: MatchOptions]>): R
  /**
   * Checks that the queue recognized a message with these fields as a duplicate and did not deliver it.
   * @example expect(sandbox.queue).toHaveDeduplicated({ to: 'https://shop.test/orders' }, { times: 1 })
   */
  toHaveDeduplicated(...given: OnQueue<T, [pattern?: DeduplicatedPattern, options?: MatchOptions]>): R
  /**
   * Checks that the queue accepted a bulk action with these fields: one request that cancels everything that matches
   * its filters. Each action has its latest state.
   * @example
   * sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1d', label: 'campaign' })
   * sandbox.queue.cancelMessages({ label: 'campaign' })
   * expect(sandbox.queue).toHaveBulkAction({ filter: { label: 'campaign' }, state: 'FINISHED' })
   */
  toHaveBulkAction(...given: OnQueue<T, [pattern?: BulkActionPattern, options?: MatchOptions]>): R
  /**
   * Checks that a delivery has a signature that its receiver would accept. `expect()` takes the queue, a recorder, one
   * delivery, or `{ url, headers, body }` with the `keys` of the receiver.
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
   * Checks the costs of the app so far, or since a mark, for example for one user action.
   * @example
   * const mark = sandbox.traffic.mark()
   * await checkout()
   * expect(sandbox).toHaveCost({ messages: '<=3', commands: '<=5' }, { since: mark })
   */
  toHaveCost(...given: OnLog<T, [pattern: CostPattern, options?: CostOptions]>): R
  /**
   * Checks that a schedule with these fields exists now.
   * @example expect(sandbox.queue).toHaveSchedule({ cron: '0 3 * * *', to: 'https://shop.test/report' })
   */
  toHaveSchedule(...given: OnSchedules<T, [pattern?: SchedulePattern, options?: MatchOptions]>): R
  /**
   * Checks that an HTTP request with these fields arrived at one of the services.
   * @example expect(sandbox).toHaveReceivedRequest({ service: 'queue', status: 401 })
   */
  toHaveReceivedRequest(...given: OnLog<T, [pattern?: RequestPattern, options?: MatchOptions]>): R
  /**
   * Checks that the app sent an outbound request to a host of `sandbox.outbound`. The argument is a URL, a method and a
   * URL, or a pattern.
   * @example expect(sandbox).toHaveOutboundRequest('POST https://bank.test/charges', { times: 1 })
   */
  toHaveOutboundRequest(...given: OnLog<T, [call?: string | OutboundPattern, options?: MatchOptions]>): R
  /**
   * Checks that entries matching these steps occurred in this order. Other entries may occur between them.
   * @example expect(sandbox).toFollowSequence([{ type: 'attempt', status: 500 }, { type: 'command', argv: ['INCR'] }])
   */
  toFollowSequence(...given: OnLog<T, [steps: readonly SequenceStep[]]>): R
  /**
   * Checks that a workflow run with these fields exists.
   * @example expect(sandbox).toHaveWorkflowRun({ workflow: 'https://shop.test/api/order', state: 'success' })
   */
  toHaveWorkflowRun(...given: OnLog<T, [pattern?: WorkflowRunPattern, options?: MatchOptions]>): R
  /**
   * Checks that a workflow run has a step with this name and these fields.
   * @example expect(sandbox).toHaveWorkflowStep('charge', { attempts: 2, result: { id: 'ch_1' } })
   */
  toHaveWorkflowStep(...given: OnLog<T, [name: Text, pattern?: WorkflowStepPattern, options?: MatchOptions]>): R
  /**
   * Checks that a step of a workflow run waits, or has waited, for this event.
   * @example expect(sandbox).toHaveWorkflowWait('approved', { outcome: 'received' })
   */
  toHaveWorkflowWait(...given: OnLog<T, [event: Text, pattern?: WorkflowWaitPattern, options?: MatchOptions]>): R
  /**
   * Checks that a property holds in every run of `exploreFaults()` or `exploreInterleavings()`.
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
   * Checks that no work is pending: no timer except schedules, and no unused fault or script step.
   * @example
   * await sandbox.clock.drain()
   * expect(sandbox).toBeIdle()
   */
  toBeIdle(...given: On<T, IdleSubject, 'write expect(sandbox)', []>): R
}

/** Asymmetric matchers, for use inside other values. They are methods of `expect`: `expect.messageTo(…)`. */
export interface SandboxAsymmetricMatchers {
  /** Matches a message: an entry that published it, one of its deliveries, or the result of `queue.publish()`. */
  messageTo: typeof messageTo
  /** Matches a command: an entry of the log, or the arguments that a client sends. */
  commandOf: typeof commandOf
  /** Matches an entry of the log by its type and fields, like a step of `toFollowSequence`. */
  entryOf: typeof entryOf
}

/** Function that evaluates a matcher. It takes the value in `expect()` and the pattern, and returns the verdict. */
export type Evaluator = (received: unknown, ...given: never[]) => Verdict

/**
 * Functions that evaluate the matchers, for use without a test runner. Each takes the value in `expect()` and the
 * pattern.
 */
export const evaluators: { readonly [Name in keyof SandboxMatchers]: Evaluator } = {
  toHaveExecuted: executed,
  toHaveKey: hasKey,
  toHavePublished: published,
  toHaveDelivered: delivered,
  toHaveDeadLetter: deadLettered,
  toHaveDeliveredCallback: calledBack,
  toHaveDeduplicated: deduplicated,
  toHaveBulkAction: hasBulkAction,
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

/** A matcher as test runners call it. `this` is the state of the runner. */
// biome-ignore lint/suspicious/noExplicitAny: runners pass the arguments of the test unchecked
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

/**
 * Maximum number of arguments of each matcher. Default: 2. Additional arguments cause an error, because the user has
 * often written a field outside the pattern by mistake.
 */
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
        `${name}(): takes ${taken === 0 ? 'no argument' : `at most ${taken === 1 ? 'one argument' : `${taken} arguments`}`} (got ${given.length}).${taken === 2 ? ' Put all fields into one pattern.' : ''}`,
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
      // The report of `exploreFaults()` or `exploreInterleavings()` has its own format, so do not color it.
      return name === 'toHold' ? text : painted(failed(), utils)
    }
    if (verdict.pass !== isNot) return { pass: verdict.pass, message }
    return {
      pass: verdict.pass,
      message,
      // This must be a getter, because composing a failure takes time. When the matcher is used inside another value,
      // only `pass` is read.
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
