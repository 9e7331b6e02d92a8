/**
 * Every number and choice that the public sources leave open or contradict, by name, with its default and source.
 * `createSandbox({ policy: { … } })` overrides any of them.
 */
export interface Policy {
  /** Bytes that one command's arguments, or its reply, may have. [store.md 10] */
  maxRequestSize: number
  /** Commands per virtual day, `undefined` for no limit. [store.md 10] */
  dailyRequestLimit: number | undefined
  /** Commands per virtual month, `undefined` for no limit. [store.md 10] */
  monthlyRequestLimit: number | undefined
  /** Bytes of all keys and values, `undefined` for no limit. [store.md 10] */
  maxStorage: number | undefined
  /** Bytes of one key. [store.md 10] */
  maxKeySize: number
  /** Bytes of one key's value, `undefined` for no limit. [store.md 10] */
  maxRecordSize: number | undefined
  /** Retries of a message that does not say. [queue.md 2.2] */
  retries: number
}

export const defaultPolicy: Policy = {
  maxRequestSize: 10_485_760,
  dailyRequestLimit: undefined,
  monthlyRequestLimit: undefined,
  maxStorage: undefined,
  maxKeySize: 32_768,
  maxRecordSize: undefined,
  retries: 3,
}
  /** Entries that a consumer of a stream may have pending, `undefined` for no limit. [store.md 7.2, 10] */
  maxPendingPerConsumer: number | undefined
  /** Bytes that may wait for a slow reader of an event stream before it is dropped. [store.md 5.2: 1 MB a line] */
  maxStreamBuffer: number
  maxPendingPerConsumer: undefined,
  maxStreamBuffer: 1_048_576,
