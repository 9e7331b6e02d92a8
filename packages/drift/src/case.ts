import type { Bytes } from '../../../src/kernel/bytes.js'

// Types of the requests that are sent to the double and to the real service, and of the observed responses.

/** One request. It is written in the neutral dialect, and each side translates it to its own dialect. */
export interface DriftRequest {
  readonly service: 'store' | 'queue'
  readonly method: string
  /** Path below the base URL of the service, as it is sent. */
  readonly path: string
  /** Headers by name. Headers of the service have their neutral names, `Service-…`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Bytes
  /**
   * Token that the request contains in a header. `in the query`: the standard token as a parameter of the query.
   * Default: `standard`.
   */
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
 * How strictly two responses are compared. `unordered`: lists in any order. `pairs`: lists that alternate names and
 * values, with the pairs in any order. `near`, `nearms`: numbers may differ by five seconds. `shape`: only types and
 * lengths, for random values. `kind`: only the type. `normal`: IDs, times and hosts are first replaced by placeholders.
 */
export type ComparisonMode = 'unordered' | 'pairs' | 'near' | 'nearms' | 'shape' | 'kind' | 'normal'

/**
 * A response that a case received from one of the two sides. A case reports the same number of responses from both
 * sides, in the same order.
 */
export interface Observation {
  /** Description of the request, which the report shows. */
  readonly asked: string
  /** Command with its arguments, if the request is a single command. */
  readonly argv?: readonly string[]
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The body of the response: the parsed JSON, or the text of any other body. */
  readonly value: unknown
  /**
   * Encoding in which the request wants to get strings. If the two sides encode a string differently, the report names
   * this encoding.
   */
  readonly encoding?: 'base64' | 'resp2'
  readonly loose: readonly ComparisonMode[]
}

/** An open event stream. */
export interface OpenStream {
  readonly answered: Omit<Answered, 'body'>
  /**
   * Returns the next data line without its prefix `data: `. Returns `undefined` if the stream has ended or no event
   * arrived in time.
   */
  next(): Promise<string | undefined>
  close(): void
}

/** The double or the real service, while one case runs on it. */
export interface Side {
  readonly name: 'double' | 'real'
  /** Prefix of all keys and names that the case creates. It consists of letters, digits and `_`. */
  readonly prefix: string
  /** Returns the current time on the clock of this side, in milliseconds since the epoch. */
  now(): number
  ask(ask: DriftRequest): Promise<Answered>
  open(ask: DriftRequest): Promise<OpenStream>
  wait(milliseconds: number): Promise<void>
  /**
   * Registers the function `work`, which deletes a resource of the case, such as a message. It runs when the case has
   * ended, even after an error. Keys of the data store are deleted automatically.
   * @param what description of the resource, for the report if `work` fails
   */
  undo(what: string, work: (side: Pick<Side, 'ask'>) => Promise<unknown>): void
  /**
   * Returns the URL to which the queue delivers the messages of the case. The query of the URL tells the endpoint how
   * to respond.
   */
  endpoint(asked?: Readonly<Record<string, string | number>>): string
  /**
   * Returns the name of a header in the dialect of this side. @param name neutral name, such as `Service-Delay`
   */
  own(name: string): string
  /**
   * Returns all deliveries to the endpoint until now. The list is empty if another program responds at the URL of the
   * endpoint.
   */
  deliveries(): readonly Delivery[]
}

/** A delivery as the endpoint received it. */
export interface Delivery {
  readonly method: string
  /** Parameters of the query. They tell the endpoint how to respond. */
  readonly asked: Readonly<Record<string, string>>
  /** Headers in the neutral dialect. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a case needs to run: a service, a token, or an endpoint. */
export type Need = 'store' | 'read-only token' | 'queue' | 'endpoint' | 'listener'

/**
 * A part of the contract, on which the double and the real service must agree. A case sends requests to one of them and
 * reports the responses.
 */
export interface Case {
  readonly name: string
  readonly needs: readonly Need[]
  /** Maximum number of requests. A case that sends more requests has a bug. */
  readonly requests: number
  run(side: Side, see: (seen: Observation) => void): Promise<void>
}

/** A case or a step that is left out, and the reason. */
export interface LeftOut {
  readonly name: string
  readonly because: string
}
