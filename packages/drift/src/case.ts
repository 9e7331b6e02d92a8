import type { Bytes } from '../../../src/kernel/bytes.js'

// What is asked of both, the double and the real service, and what was seen of it.

/** One request in the neutral words; each side puts its dialect on. */
export interface DriftRequest {
  readonly service: 'store' | 'queue'
  readonly method: string
  /** Below the service's address, as it is sent. */
  readonly path: string
  /** The service's own ones are written `Service-…`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Bytes
  /** Whose token goes with it, and how. Default `standard`. */
  readonly token?: TokenUse
}

type TokenUse = 'standard' | 'read-only' | 'wrong' | 'none' | 'in the query'

export interface Answered {
  readonly status: number
  /** Names in lower case, the service's own ones in neutral words. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes
}

/**
 * How loosely two answers are compared. `unordered`: a list is a multiset; `pairs`: a multiset of pairs; `near`, `nearms`:
 * numbers may differ by five seconds; `shape`: only types and lengths count, for chance; `kind`: only the type counts;
 * `normal`: ids, times and hosts are replaced by what they are.
 */
export type ComparisonMode = 'unordered' | 'pairs' | 'near' | 'nearms' | 'shape' | 'kind' | 'normal'

/** Something that was seen on one side. The two sides of a case see the same things in the same order. */
export interface Observation {
  /** What was asked, as one reads it. */
  readonly asked: string
  /** The command, where it was one. */
  readonly argv?: readonly string[]
  readonly status?: number
  /** Those that matter. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body: JSON as its value, anything else as text. */
  readonly value: unknown
  /** Where strings are base64, which a difference names. */
  readonly encoding?: 'base64' | 'resp2'
  readonly loose: readonly ComparisonMode[]
}

/** A thread of events under way. */
export interface OpenStream {
  readonly answered: Omit<Answered, 'body'>
  /** The next line of data, without `data: `; `undefined` when the stream has ended or nothing came in time. */
  next(): Promise<string | undefined>
  close(): void
}

/** One of the two that are compared, for the length of one case. */
export interface Side {
  readonly name: 'double' | 'real'
  /** All keys and names that the case makes begin with it. Letters, digits and `-`. */
  readonly prefix: string
  /** The time as this side has it, milliseconds. */
  now(): number
  ask(ask: DriftRequest): Promise<Answered>
  open(ask: DriftRequest): Promise<OpenStream>
  wait(milliseconds: number): Promise<void>
  /**
   * What takes back something that the case makes, other than a key: done at the end, come what may.
   * @param what it is, for the report of what is left
   */
  undo(what: string, work: (side: Pick<Side, 'ask'>) => Promise<unknown>): void
  /** Where deliveries go, with what is asked of it in the query. */
  endpoint(asked?: Readonly<Record<string, string | number>>): string
  /** A header of the service's own in the words of this side: `Service-Delay`, where it stands within a body. */
  own(name: string): string
  /** What has arrived there, as far as it can be seen. */
  deliveries(): readonly Delivery[]
}

/** A delivery as the endpoint got it. */
export interface Delivery {
  readonly method: string
  /** Of the query. */
  readonly asked: Readonly<Record<string, string>>
  /** In neutral words. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a case needs beside the service itself. */
export type Need = 'store' | 'read-only token' | 'queue' | 'endpoint' | 'listener'

/** A part of the contract: what is done, on each side alike, and what is looked at. */
export interface Case {
  readonly name: string
  readonly needs: readonly Need[]
  /** Requests, at most; what goes beyond is a mistake of the case. */
  readonly requests: number
  run(side: Side, see: (seen: Observation) => void): Promise<void>
}

/** A part of the contract that is never done, and why. */
export interface LeftOut {
  readonly name: string
  readonly because: string
}
