import { isIdle } from './idle.js'
import type { CallbackPattern, DeadLetterPattern, DeliveredPattern, PublishedPattern } from './patterns.js'
import { calledBack, deadLettered, delivered, published } from './queue.js'
import { type SchedulePattern, scheduled } from './schedules.js'
import { followsSequence, type SequenceStep } from './sequence.js'
import { executed, hasKey, type KeyPattern, type Word } from './store.js'
import { type RequestPattern, receivedRequest } from './traffic.js'
import type { MatchOptions, Verdict } from './verdict.js'

export type { AsymmetricMatcher } from './literal.js'
export type {
  CallbackPattern,
  DeadLetterPattern,
  DeliveredPattern,
  KeyPattern,
  MatchOptions,
  PublishedPattern,
  RequestPattern,
  SchedulePattern,
  SequenceStep,
  Verdict,
  Word,
}

/** What a matcher hands to the runner. */
export interface MatcherResult {
  readonly pass: boolean
  message(): string
}

/** What a runner tells a matcher; all of it may be missing. */
interface RunnerState {
  readonly isNot?: boolean
}

/**
 * The matchers as assertions return them, for every runner: `R` is what an assertion returns (`void`, or a promise
 * behind `.resolves`).
 */
export interface SandboxMatchers<R = unknown> {
  /**
   * The code under test sent this command, by whichever way, and the store ran it. The words may be fewer than those
   * of the command. A last argument `{ times: n }` counts.
   * @example expect(sandbox.store).toHaveExecuted('SET', 'profile:42', expect.anything(), 'EX', '3600')
   */
  toHaveExecuted(...words: readonly (Word | MatchOptions)[]): R
  /**
   * The store holds this key now.
   * @example expect(sandbox.store).toHaveKey('profile:42', { type: 'string', ttl: '1h', value: { name: 'Ada' } })
   */
  toHaveKey(key: string, pattern?: KeyPattern): R
  /**
   * The queue accepted such a message.
   * @example expect(sandbox.queue).toHavePublished({ to: 'https://shop.test/orders', retries: 3, body: { id: 42 } })
   */
  toHavePublished(pattern?: PublishedPattern, options?: MatchOptions): R
  /**
   * Such a message came to its end, delivered unless `state` says otherwise.
   * @example expect(sandbox.queue).toHaveDelivered({ to: 'https://shop.test/orders', attempts: [500, 200] })
   */
  toHaveDelivered(pattern?: DeliveredPattern, options?: MatchOptions): R
  /**
   * Such a message went to the dead-letter queue.
   * @example expect(sandbox.queue).toHaveDeadLetter({ to: 'https://shop.test/orders', status: 503 })
   */
  toHaveDeadLetter(pattern?: DeadLetterPattern, options?: MatchOptions): R
  /**
   * Such a callback or failure callback arrived.
   * @example expect(sandbox.queue).toHaveCalledBack({ to: 'https://shop.test/failed', status: 503, retried: 2 })
   */
  toHaveCalledBack(pattern?: CallbackPattern, options?: MatchOptions): R
  /**
   * Such a schedule exists now.
   * @example expect(sandbox.queue).toHaveScheduled({ cron: '0 3 * * *', to: 'https://shop.test/report' })
   */
  toHaveScheduled(pattern?: SchedulePattern, options?: MatchOptions): R
  /**
   * Such an HTTP request arrived at one of the services.
   * @example expect(sandbox).toHaveReceivedRequest({ service: 'queue', status: 401 })
   */
  toHaveReceivedRequest(pattern?: RequestPattern, options?: MatchOptions): R
  /**
   * These things happened in this order, with anything between them.
   * @example expect(sandbox).toFollowSequence([{ type: 'attempt', status: 500 }, { type: 'command', words: ['INCR'] }])
   */
  toFollowSequence(steps: readonly SequenceStep[]): R
  /** Nothing is left to happen: no timer but schedules, and no fault or script step that never struck. */
  toBeIdle(): R
}

/** What is given to `expect()` and the pattern → the verdict. */
export type Judge = (received: unknown, ...given: never[]) => Verdict

/** The functions behind the matchers: what is given to `expect()` and the pattern → the verdict. */
export const judges: { readonly [Name in keyof SandboxMatchers]: Judge } = {
  toHaveExecuted: executed,
  toHaveKey: hasKey,
  toHavePublished: published,
  toHaveDelivered: delivered,
  toHaveDeadLetter: deadLettered,
  toHaveCalledBack: calledBack,
  toHaveScheduled: scheduled,
  toHaveReceivedRequest: receivedRequest,
  toFollowSequence: followsSequence,
  toBeIdle: isIdle,
}

/** A matcher as runners call it: `this` is the runner's state. */
// biome-ignore lint/suspicious/noExplicitAny: runners hand over whatever the test wrote
export type MatcherFunction = (this: unknown, received: unknown, ...given: any[]) => MatcherResult

/**
 * The matchers as plain objects, without a runner.
 * @example expect.extend(sandboxMatchers)
 */
export const sandboxMatchers: { readonly [Name in keyof SandboxMatchers]: MatcherFunction } = {
  toHaveExecuted: matcher(executed),
  toHaveKey: matcher(hasKey),
  toHavePublished: matcher(published),
  toHaveDelivered: matcher(delivered),
  toHaveDeadLetter: matcher(deadLettered),
  toHaveCalledBack: matcher(calledBack),
  toHaveScheduled: matcher(scheduled),
  toHaveReceivedRequest: matcher(receivedRequest),
  toFollowSequence: matcher(followsSequence),
  toBeIdle: matcher(isIdle),
}

function matcher(judge: Judge): MatcherFunction {
  return function (received, ...given) {
    const verdict = judge(received, ...(given as never[]))
    const isNot = (this as RunnerState | undefined)?.isNot === true
    return { pass: verdict.pass, message: () => verdict.explain(isNot) }
  }
}
