import { hostPause } from '../kernel/host.js'

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
  /** Waiting requests, by group and connection. Whoever comes first in a map is next. */
  readonly #waiting = new Map<unknown, Map<object, (() => void)[]>>()
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
    const connections = this.#waiting.get(group) ?? new Map<object, (() => void)[]>()
    this.#waiting.set(group, connections)
    const requests = connections.get(connection)
    if (requests === undefined) connections.set(connection, [run])
    else requests.push(run)
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
    const [group, connections] = firstOf(this.#waiting)
    const [connection, requests] = firstOf(connections)
    const run = requests.shift()!
    connections.delete(connection)
    if (requests.length > 0) connections.set(connection, requests)
    this.#waiting.delete(group)
    if (connections.size > 0) this.#waiting.set(group, connections)
    return run
  }
}

/** The first entry of a map that has one. */
function firstOf<K, V>(map: ReadonlyMap<K, V>): readonly [K, V] {
  return map.entries().next().value!
}
