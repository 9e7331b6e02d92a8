import { hostPause } from '../../../src/kernel/host.js'

/** Host milliseconds of one turn of the event loop that requests may take before those of others are asked. */
const usualSlice = 20

/** What the requests wait with. Tests give their own. */
export interface TurnHost {
  now(): number
  /** Resolves when the host has done all its work, sockets included. */
  pause(): Promise<void>
}

/**
 * Shares the event loop among the connections of a server. In each turn of the loop requests run until a slice of time is
 * used up. What comes later waits for the next turn: then groups of connections, such as those of a tenant, have their
 * turn one after the other, and so have the connections within a group. So neither many requests nor many connections of
 * one tenant keep the others waiting. Requests of one connection run in their order.
 *
 * A slice is timed because it covers everything, the reading of JSON and the encoding of answers included. It decides only
 * whose request comes first, which the network decides otherwise. One request alone is bounded by `policy.maxWork`.
 */
export class Turns {
  readonly #host: TurnHost
  readonly #slice: number
  /** Waiting requests, by group and connection. */
  readonly #waiting = new Round<unknown, Round<object, (() => void)[]>>()
  /** When the slice of the present turn is used up; `undefined` while nothing has run in it. */
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

  /** How many requests of a connection wait. */
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

  /** Takes the next request out, and puts its connection and its group last. */
  #first(): () => void {
    return this.#waiting.turn((connections) => {
      const run = connections.turn((requests) => [requests.shift()!, requests.length > 0])
      return [run, connections.size > 0]
    })
  }
}

/** Who waits, in the order of turns. */
class Round<K, V> {
  readonly #waiting = new Map<K, V>()
  /** Who had the last turn. */
  #last: K | undefined

  get size(): number {
    return this.#waiting.size
  }

  get(key: K): V | undefined {
    return this.#waiting.get(key)
  }

  /** What waits for a key. Who comes anew is before the one that had the last turn: else it would wait for two of its requests. */
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

  /** Takes from the first what `take` does, which tells whether more of it waits. */
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
