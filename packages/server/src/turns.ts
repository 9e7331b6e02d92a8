import { hostPause } from '../../../src/kernel/host.js'

/** Host milliseconds in one turn of the event loop that requests may use before other connections have their turn. */
const usualSlice = 20

/** Clock and pause that the turns use. Tests replace them. */
export interface TurnHost {
  now(): number
  /** Resolves when the host has processed all its events, sockets included. */
  pause(): Promise<void>
}

/**
 * Shares the event loop among the connections of a server. In each turn of the loop, requests run until a slice of time
 * is used up. Later requests wait for the next turn, in which groups of connections, such as those of a tenant,
 * alternate, and so do the connections within a group. So neither many requests nor many connections of one tenant
 * delay the others. Requests of one connection run in their order.
 * The slice is measured in time because this covers everything, including JSON parsing and encoding. It decides only
 * which request runs first, which otherwise depends on the network. `policy.maxWork` limits a single request.
 */
export class Turns {
  readonly #host: TurnHost
  readonly #slice: number
  /** Waiting requests, by group and connection. */
  readonly #waiting = new Round<unknown, Round<object, (() => void)[]>>()
  /** Time at which the slice of this turn ends; `undefined` while nothing has run in it. */
  #until: number | undefined

  constructor(
    host: TurnHost = { now: performance.now.bind(performance), pause: hostPause },
    slice: number = usualSlice,
  ) {
    this.#host = host
    this.#slice = slice
  }

  /** Runs a request of a connection now, or when it is its turn. It must not throw. */
  take(group: unknown, connection: object, run: () => void): void {
    const now = this.#host.now()
    if (this.#until === undefined) this.#begin(now)
    if (this.#waiting.size === 0 && now < this.#until!) {
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

  /** Removes the next request, and moves its connection and its group to the end. */
  #first(): () => void {
    return this.#waiting.turn((connections) => {
      const run = connections.turn((requests) => [requests.shift()!, requests.length > 0])
      return [run, connections.size > 0]
    })
  }
}

/** Waiting entries, in the order of their turns. */
class Round<K, V> {
  readonly #waiting = new Map<K, V>()
  /** Key that had the last turn. */
  #last: K | undefined

  get size(): number {
    return this.#waiting.size
  }

  get(key: K): V | undefined {
    return this.#waiting.get(key)
  }

  /**
   * Returns the entry of a key. A new key goes before the key that had the last turn, because otherwise it would wait
   * for two requests of that key.
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

  /** Passes the first entry to `take`, which returns a result and whether the entry has more. */
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
