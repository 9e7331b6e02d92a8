import type { Bytes } from '../../../src/kernel/bytes.js'

// Types of the requests that are sent to the double and to the real service, and of the observed responses.

/** One request in the neutral dialect; each side translates it to its own. */
export interface DriftRequest {
  readonly service: 'store' | 'queue'
  readonly method: string
  /** Path below the base URL of the service, as it is sent. */
  readonly path: string
  /** Headers by name. Headers of the service have their neutral names, `Service-…`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Bytes
  /** Which token is sent, and whether in a header or in the query. Default `standard`, in a header. */
  readonly token?: TokenUse
}

type TokenUse = 'standard' | 'read-only' | 'wrong' | 'none' | 'in the query'

export interface Answered {
  readonly status: number
  /** Headers by name, in lower case. Headers of the service have their neutral names. */
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
  /** Description of the request for the report. */
  readonly asked: string
  /** Command with its arguments, if the request is a single command. */
  readonly argv?: readonly string[]
  readonly status?: number
  /** The headers that are compared. */
  readonly headers?: Readonly<Record<string, string>>
  /** The body: JSON as its value, anything else as text. */
  readonly value: unknown
  /** Encoding of strings that the request asks for. A difference in this encoding is reported as such. */
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
  /** Prefix of all keys and names that the case creates. It consists of letters, digits and `_`. */
  readonly prefix: string
  /** Returns the time on the clock of this side, in milliseconds since the epoch. */
  now(): number
  ask(ask: DriftRequest): Promise<Answered>
  open(ask: DriftRequest): Promise<OpenStream>
  wait(milliseconds: number): Promise<void>
  /**
   * Registers a function that deletes something that the case creates, such as a message. It runs when the case has
   * ended, even after an error. Keys need no such function.
   * @param what description of what is deleted, which the report contains if `work` fails
   */
  undo(what: string, work: (side: Pick<Side, 'ask'>) => Promise<unknown>): void
  /** Returns the URL of the endpoint with instructions in its query. */
  endpoint(asked?: Readonly<Record<string, string | number>>): string
  /**
   * Returns the name of a header in the dialect of this side. @param name neutral name, such as `Service-Delay`
   */
  own(name: string): string
  /** Returns the deliveries to the endpoint so far. The list is empty if the endpoint is another program. */
  deliveries(): readonly Delivery[]
}

/** A delivery as the endpoint received it. */
export interface Delivery {
  readonly method: string
  /** Parameters of the query, which are instructions for the endpoint. */
  readonly asked: Readonly<Record<string, string>>
  /** Headers in the neutral dialect. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a case needs in addition to the service itself. */
export type Need = 'store' | 'read-only token' | 'queue' | 'endpoint' | 'listener'

/** A part of the contract: requests that run on each side, and their observations. */
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
