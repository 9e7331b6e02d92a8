import { hostPause } from '../../../src/kernel/host.js'

/** Default slice: time that requests may use in one iteration of the event loop, in milliseconds of host time. */
const usualSlice = 20

/** Clock and pause that `Turns` uses. Tests replace them. */
export interface TurnHost {
  now(): number
  /**
   * Resolves in the next iteration of the event loop, after all pending events were processed, including those of
   * sockets.
   */
  pause(): Promise<void>
}

/**
 * Schedules requests, so that all connections of a server get their share of the event loop. In each iteration of the
 * event loop, requests run until a slice of time is used up. The remaining requests wait for the next iteration. The
 * groups of connections, such as all connections of a tenant, alternate. The connections of a group also alternate. A
 * tenant with many requests or many connections therefore does not delay other tenants. Requests of one connection run
 * in the order in which they arrived. The slice is a duration, because a duration includes all work, such as parsing
 * and encoding JSON. The slice affects only the order of requests of different connections, which depends on the
 * network anyway. `policy.maxWork` limits a single request.
 */
export class Turns {
  readonly #host: TurnHost
  readonly #slice: number
  /** Waiting requests, by group and connection. */
  readonly #waiting = new Round<unknown, Round<object, (() => void)[]>>()
  /** Time at which the slice of this iteration ends; `undefined` before the first request of the iteration. */
  #until: number | undefined

  constructor(
    host: TurnHost = { now: performance.now.bind(performance), pause: hostPause },
    slice: number = usualSlice,
  ) {
    this.#host = host
    this.#slice = slice
  }

  /** Whether a request that arrives now may run immediately. Most requests need no more than this. */
  get isFree(): boolean {
    const now = this.#host.now()
    if (this.#until === undefined) this.#begin(now)
    return this.#waiting.size === 0 && now < this.#until!
  }

  /**
   * Runs a request now, or in a later iteration of the event loop.
   * @param run function that runs the request and must not throw
   */
  take(group: unknown, connection: object, run: () => void): void {
    if (this.isFree) {
      run()
      return
    }
    this.#waiting
      .of(group, () => new Round())
      .of(connection, () => [])
      .push(run)
  }

  /** Returns the number of waiting requests of a connection. */
  waiting(group: unknown, connection: object): number {
    return this.#waiting.get(group)?.get(connection)?.length ?? 0
  }

  #begin(now: number): void {
    this.#until = now + this.#slice
    void this.#host.pause().then(() => this.#next())
  }

  #next(): void {
    this.#until = undefined
    if (this.#waiting.size === 0) return
    this.#begin(this.#host.now())
    do this.#first()()
    while (this.#waiting.size > 0 && this.#host.now() < this.#until!)
  }

  /** Removes and returns the next request. Its connection and its group move to the end of their queues. */
  #first(): () => void {
    return this.#waiting.turn((connections) => {
      const run = connections.turn((requests) => [requests.shift()!, requests.length > 0])
      return [run, connections.size > 0]
    })
  }
}

/** A queue of entries by key. After an entry was used, it moves to the end if it has more work. */
class Round<K, V> {
  readonly #waiting = new Map<K, V>()
  /** Key of the entry that was used last. */
  #last: K | undefined

  get size(): number {
    return this.#waiting.size
  }

  get(key: K): V | undefined {
    return this.#waiting.get(key)
  }

  /**
   * Returns the entry of a key. A new key is inserted in front of the key that was used last. Otherwise two requests of
   * that key would run before the new key.
   */
  of(key: K, make: () => V): V {
    const known = this.#waiting.get(key)
    if (known !== undefined) return known
    const made = make()
    this.#waiting.set(key, made)
    const last = this.#last
    const before = last === undefined ? undefined : this.#waiting.get(last)
    if (before !== undefined) this.#putLast(last!, before)
    return made
  }

  /**
   * Passes the first entry to `take`. `take` returns a result, and whether the entry has more work. This method returns
   * the result.
   */
  turn<T>(take: (first: V) => readonly [T, boolean]): T {
    const [key, first] = this.#waiting.entries().next().value!
    const [taken, hasMore] = take(first)
    this.#last = key
    if (hasMore) this.#putLast(key, first)
    else this.#waiting.delete(key)
    return taken
  }

  #putLast(key: K, value: V): void {
    this.#waiting.delete(key)
    this.#waiting.set(key, value)
  }
}
