import type { Entry } from '../src/kernel/traffic-log.js'

// What each matcher can look into, for the compiler: matchers say the same in sentences when the test runs.

interface Log {
  readonly entries: readonly object[]
}

interface WithTraffic {
  readonly traffic: Log
}

/** A sandbox or its snapshot, one of its services, its traffic log, or a list of entries. */
export type LogSubject = WithTraffic | Log | readonly Pick<Entry, 'seq' | 'type'>[]

/** Anything of that but a store, which alone runs commands. */
export type QueueSubject = (WithTraffic & { readonly run?: never }) | Exclude<LogSubject, WithTraffic>

/** Anything of that but a queue, which alone has dead letters. */
export type StoreSubject = (WithTraffic & { readonly deadLetters?: never }) | Exclude<LogSubject, WithTraffic>

/** What holds keys now: a sandbox or a store, no log and not the past, which is at an instant of its own. */
export type KeySubject = WithTraffic & { readonly deadLetters?: never; readonly now?: never }

/** What holds schedules now: a sandbox or a queue, no log and not the past. */
export type ScheduleSubject = WithTraffic & { readonly run?: never; readonly now?: never }

/** The queue or its log, a recorder, or one request as it arrived. */
export type SignedSubject =
  | QueueSubject
  | { readonly requests: readonly object[] }
  | { readonly url: string; readonly headers: object }

export type IdleSubject = WithTraffic & { readonly clock: object }

/** What was explored. */
export interface ExploredSubject {
  readonly holds: boolean
  table(): string
  report(): string
}

/** An argument that cannot be made: its name and its type say what `expect()` has to be given. */
interface Misplaced<Where extends string> {
  readonly [misplaced]: Where
}
declare const misplaced: unique symbol

/**
 * The arguments of a matcher, by what was given to `expect()`. Promises are awaited, by `.resolves` at the latest; what may
 * be missing is not missing in a test that passes; of `any` and `unknown` nothing is known.
 */
export type On<T, Subject, Where extends string, Args extends readonly unknown[]> = unknown extends T
  ? Args
  : [T] extends [null | undefined]
    ? [subject: Misplaced<Where>]
    : [NonNullable<Awaited<T>>] extends [Subject]
      ? Args
      : [subject: Misplaced<Where>]

export type OnLog<T, Args extends readonly unknown[]> = On<T, LogSubject, 'write expect(sandbox)', Args>
export type OnQueue<T, Args extends readonly unknown[]> = On<
  T,
  QueueSubject,
  'write expect(sandbox.queue) or expect(sandbox)',
  Args
>
export type OnSchedules<T, Args extends readonly unknown[]> = On<
  T,
  ScheduleSubject,
  'write expect(sandbox.queue) or expect(sandbox)',
  Args
>
export type OnStore<T, Args extends readonly unknown[]> = On<
  T,
  StoreSubject,
  'write expect(sandbox.store) or expect(sandbox)',
  Args
>
export type OnKeys<T, Args extends readonly unknown[]> = On<
  T,
  KeySubject,
  'write expect(sandbox.store) or expect(sandbox)',
  Args
>
