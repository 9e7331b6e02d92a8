import type { Entry } from '../src/kernel/traffic-log.js'

// The types of the values that each matcher accepts in `expect()`. At run time, a matcher checks the value again and
// throws an error for a wrong one.

interface Log {
  /** Entries of the traffic log, oldest first. */
  readonly entries: readonly object[]
}

interface WithTraffic {
  /** Traffic log of the sandbox, which the matchers read. */
  readonly traffic: Log
}

/** A sandbox or its snapshot, one of its services, its traffic log, or a list of entries. */
export type LogSubject = WithTraffic | Log | readonly Pick<Entry, 'seq' | 'type'>[]

/** Any value with a log, except a store. Only a store has a method `run()`. */
export type QueueSubject =
  | (WithTraffic & {
      /** Always absent. The field excludes a store, which has a method `run()`. */
      readonly run?: never
    })
  | Exclude<LogSubject, WithTraffic>

/** Any value with a log, except a queue. Only a queue has dead letters. */
export type StoreSubject =
  | (WithTraffic & {
      /** Always absent. The field excludes a queue, which has dead letters. */
      readonly deadLetters?: never
    })
  | Exclude<LogSubject, WithTraffic>

/**
 * A sandbox or a store, because their keys are current. A log has no keys, and a view of the past has the keys of an
 * earlier instant.
 */
export type KeySubject = WithTraffic & {
  /** Always absent. The field excludes a queue, which has dead letters. */
  readonly deadLetters?: never
  /** Always absent. The field excludes a view of the past, which has a field `now`. */
  readonly now?: never
}

/** A sandbox or a queue, because their schedules are current. Logs and views of the past have no current schedules. */
export type ScheduleSubject = WithTraffic & {
  /** Always absent. The field excludes a store, which has a method `run()`. */
  readonly run?: never
  /** Always absent. The field excludes a view of the past, which has a field `now`. */
  readonly now?: never
}

/** The queue or its log, a recorder, or one received request. */
export type SignedSubject =
  | QueueSubject
  | {
      /** Recorded deliveries of a recorder, oldest first. */
      readonly requests: readonly object[]
    }
  | {
      /** URL to which the delivery was sent. The signature contains this URL. */
      readonly url: string
      /** Headers of the delivery, including the signature. */
      readonly headers: object
    }

export type IdleSubject = WithTraffic & {
  /** Clock of the sandbox, with its pending timers and running handlers. */
  readonly clock: object
}

/** The result of an exploration. */
export interface ExploredSubject {
  /** Whether the property holds in every run. */
  readonly holds: boolean
  table(): string
  report(): string
}

/**
 * Type of an argument that no value has. The compiler's error shows its name and type, which state what `expect()`
 * needs.
 */
interface Misplaced<Where extends string> {
  readonly [misplaced]: Where
}
declare const misplaced: unique symbol

/**
 * The arguments of a matcher, which depend on the type of the value in `expect()`. A promise counts as the value to
 * which it resolves, because `.resolves` awaits it. `null` and `undefined` in a union are ignored. `any` and `unknown`
 * are accepted.
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
