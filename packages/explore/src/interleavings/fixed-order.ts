import { type TurnPicker, Unplayable } from './client-run.js'
import type { Touched } from './touched.js'

// Orders of clients that are known before the run.

/** Returns an order in which each client ends before the next one starts. */
export function oneByOne(clients: readonly string[]): TurnPicker {
  const rank = new Map(clients.map((name, at) => [name, at]))
  const place = (name: string): number => rank.get(name.split('#')[0]!)!
  return { choose: (waiting) => [...waiting].sort((a, b) => place(a) - place(b))[0]!, executed() {} }
}

/** Returns an order in which each client sends one request in turn. */
export function inTurn(clients: readonly string[]): TurnPicker {
  let last = -1
  return {
    choose(waiting) {
      for (let step = 1; step <= clients.length; step++) {
        const at = (last + step) % clients.length
        if (!waiting.includes(clients[at]!)) continue
        last = at
        return clients[at]!
      }
      return waiting[0]!
    },
    executed() {},
  }
}

/** The order of the option `replay`. When it ends, the clients run one after the other. */
export class FixedOrder implements TurnPicker {
  readonly #names: readonly string[]
  #at = 0

  /** @throws TypeError if a name is not the name of a client */
  constructor(replay: string, clients: readonly string[]) {
    this.#names = replay.trim().split(/\s+/)
    const unknown = this.#names.find((name) => !clients.includes(name.split('#')[0]!))
    if (unknown !== undefined)
      throw new Unplayable(
        `exploreInterleavings(): the option replay contains ${JSON.stringify(unknown)}, which is not the name of a client. Use ${clients.join(', ')}.`,
      )
  }

  choose(waiting: readonly string[]): string {
    if (this.#at >= this.#names.length) return waiting[0]!
    const name = this.#names[this.#at++]!
    if (waiting.includes(name)) return name
    throw new Unplayable(
      `exploreInterleavings(): the order cannot be replayed: step ${this.#at} is a request of ${name}, but only ${waiting.join(' and ')} sent a request. The clients have changed since the order was printed.`,
    )
  }

  executed(_: Touched): void {}

  /** @throws TypeError if the order is longer than the run */
  check(): void {
    const left = this.#names.slice(this.#at)
    if (left.length > 0)
      throw new Unplayable(
        `exploreInterleavings(): the order cannot be replayed: all clients had ended after ${this.#at} steps, and replay continues with ${left.join(' ')}.`,
      )
  }
}

/**
 * An order that is followed as far as possible. If the next client has no waiting request, another client goes first.
 */
export class WantedOrder implements TurnPicker {
  readonly #names: string[]

  constructor(names: readonly string[]) {
    this.#names = [...names]
  }

  choose(waiting: readonly string[]): string {
    const at = this.#names.findIndex((name) => waiting.includes(name))
    return at === -1 ? waiting[0]! : this.#names.splice(at, 1)[0]!
  }

  executed(_: Touched): void {}
}

export function permutations<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]]
  return all.flatMap((one, at) => permutations(all.toSpliced(at, 1)).map((rest) => [one, ...rest]))
}
