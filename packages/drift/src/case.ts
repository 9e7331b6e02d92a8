import type { Bytes } from '../../../src/kernel/bytes.js'

// What is sent to both, the double and the real service, and what is observed.

/** One request in the neutral dialect; each side translates it to its own. */
export interface DriftRequest {
  readonly service: 'store' | 'queue'
  readonly method: string
  /** Path below the base URL of the service, as it is sent. */
  readonly path: string
  /** Headers. Those of the service are written `Service-…`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Bytes
  /** The token, and how it is sent. Default `standard`. */
  readonly token?: TokenUse
}

type TokenUse = 'standard' | 'read-only' | 'wrong' | 'none' | 'in the query'

export interface Answered {
  readonly status: number
  /** Names in lower case; those of the service in the neutral dialect. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes
}

/**
 * How loosely two responses are compared. `unordered`: a list is a multiset; `pairs`: a multiset of pairs; `near`,
 * `nearms`: numbers may differ by five seconds; `shape`: only types and lengths count, for random values; `kind`: only
 * the type counts; `normal`: IDs, times and hosts are replaced by placeholders.
 */
export type ComparisonMode = 'unordered' | 'pairs' | 'near' | 'nearms' | 'shape' | 'kind' | 'normal'

/** One observation on one side. Both sides of a case observe the same things in the same order. */
export interface Observation {
  /** The request as text for a reader. */
  readonly asked: string
  /** The command, if it was one. */
  readonly argv?: readonly string[]
  readonly status?: number
  /** The headers that are compared. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body: JSON as its value, anything else as text. */
  readonly value: unknown
  /** The encoding of strings, which a difference names. */
  readonly encoding?: 'base64' | 'resp2'
  readonly loose: readonly ComparisonMode[]
}

/** An open event stream. */
export interface OpenStream {
  readonly answered: Omit<Answered, 'body'>
  /**
   * Returns the next line of data, without `data: `; `undefined` if the stream has ended or nothing arrived in time.
   */
  next(): Promise<string | undefined>
  close(): void
}

/** One of the two compared sides, for the duration of one case. */
export interface Side {
  readonly name: 'double' | 'real'
  /** Prefix of all keys and names that the case creates: letters, digits and `-`. */
  readonly prefix: string
  /** Returns the time of this side in milliseconds. */
  now(): number
  ask(ask: DriftRequest): Promise<Answered>
  open(ask: DriftRequest): Promise<OpenStream>
  wait(milliseconds: number): Promise<void>
  /**
   * Registers the removal of something that the case creates, other than a key. It always runs at the end.
   * @param what describes it, for the report of what remains
   */
  undo(what: string, work: (side: Pick<Side, 'ask'>) => Promise<unknown>): void
  /** Returns the URL for deliveries, with instructions for the endpoint in the query. */
  endpoint(asked?: Readonly<Record<string, string | number>>): string
  /**
   * Returns the name of a header of the service in the dialect of this side: `Service-Delay`, as it is written in a
   * body.
   */
  own(name: string): string
  /** Returns the deliveries that have arrived there, as far as they can be seen. */
  deliveries(): readonly Delivery[]
}

/** A delivery as the endpoint received it. */
export interface Delivery {
  readonly method: string
  /** Parameters of the query. */
  readonly asked: Readonly<Record<string, string>>
  /** Headers in the neutral dialect. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a case needs in addition to the service itself. */
export type Need = 'store' | 'read-only token' | 'queue' | 'endpoint' | 'listener'

/** A part of the contract: what is done on each side, and what is observed. */
export interface Case {
  readonly name: string
  readonly needs: readonly Need[]
  /** Maximum number of requests; a case that sends more has a defect. */
  readonly requests: number
  run(side: Side, see: (seen: Observation) => void): Promise<void>
}

/** A part of the contract that is never sent, and why. */
export interface LeftOut {
  readonly name: string
  readonly because: string
}
