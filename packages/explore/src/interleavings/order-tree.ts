import { Unplayable } from './client-run.js'
import { commute, type Touched } from './touched.js'

interface Node {
  /** Clients that wait with a request at this step. */
  readonly enabled: readonly string[]
  /** Clients with which the search must continue at this step. */
  readonly wanted: Set<string>
  /** Clients with which the search need not continue at this step, because it already tried an equivalent order. */
  readonly asleep: Map<string, Touched>
  readonly done: Set<string>
  picked: string
  touched: Touched | undefined
}

interface Step {
  readonly who: string
  readonly touched: Touched
}

/**
 * All orders of several clients, depth first. Orders that differ only in the order of independent requests are tried
 * once: dynamic partial-order reduction with sleep sets. [Flanagan, Godefroid: Dynamic partial-order reduction for
 * model checking software, 2005]
 */
export class OrderTree {
  /** Whether a client had two requests in flight at the same time. The search then cannot skip equivalent orders. */
  isAmbiguous = false
  readonly #path: Node[] = []
  #trace: Step[] = []
  /** Whether the run can only continue in an order that is equivalent to a tried one. */
  #isKnown = false

  constructor(readonly reduces: boolean) {}

  /** Begins a run. */
  begin(): void {
    this.#trace = []
    this.#isKnown = false
  }

  /**
   * Returns the client that sends the next request.
   * @param waiting names of the clients with a waiting request, the preferred client first. `alice#2` is a second
   * request of `alice`
   */
  choose(waiting: readonly string[]): string {
    const node = this.#path[this.#trace.length]
    if (node !== undefined) {
      if (waiting.includes(node.picked)) return node.picked
      throw new Unplayable(
        `exploreInterleavings(): the clients behave differently when an order is repeated: ${node.picked} does not send a request that it sent before. Clients must not depend on state outside of their sandbox, such as a variable that an earlier order has changed.`,
      )
    }
    if (waiting.some((name) => name.includes('#'))) this.isAmbiguous = true
    const asleep = this.#asleepHere()
    const picked = this.#isKnown ? undefined : waiting.find((name) => !asleep.has(name))
    this.#isKnown = picked === undefined
    if (picked === undefined) return waiting[0]!
    const wanted = new Set(this.reduces ? [picked] : waiting)
    this.#path.push({ enabled: [...waiting], wanted, asleep, done: new Set(), picked, touched: undefined })
    return picked
  }

  #asleepHere(): Map<string, Touched> {
    const before = this.#path.at(-1)
    if (!this.reduces || before?.touched === undefined) return new Map()
    const { asleep, picked, touched } = before
    return new Map([...asleep].filter(([name, its]) => name !== picked && commute(its, touched)))
  }

  /** Records which keys the request of the chosen client has used. */
  executed(touched: Touched): void {
    const node = this.#path[this.#trace.length]
    // The run continues in an order that is equivalent to a tried one, so its steps are not recorded.
    if (node === undefined) return
    node.touched = touched
    this.#trace.push({ who: node.picked, touched })
  }

  /** Selects an order that was not tried yet. @returns whether there is one */
  next(): boolean {
    if (this.reduces) this.#findRaces()
    for (let node = this.#path.at(-1); node !== undefined; node = this.#path.at(-1)) {
      node.done.add(node.picked)
      if (this.reduces && node.touched !== undefined) node.asleep.set(node.picked, node.touched)
      const next = node.enabled.find((name) => node.wanted.has(name) && !node.done.has(name) && !node.asleep.has(name))
      if (next !== undefined) {
        node.picked = next
        node.touched = undefined
        return true
      }
      this.#path.pop()
    }
    return false
  }

  /** For each pair of steps that use a common key, plans an order with the two steps reversed. */
  #findRaces(): void {
    const clocks: ReadonlyMap<string, number>[] = []
    const latest = new Map<string, number>()
    for (const [at, { who, touched }] of this.#trace.entries()) {
      const clock = new Map(latest.has(who) ? clocks[latest.get(who)!] : [])
      for (let before = at - 1; before >= 0; before--) {
        const other = this.#trace[before]!
        if (other.who === who || (clock.get(other.who) ?? 0) > before || commute(other.touched, touched)) continue
        this.#want(this.#path[before], who, before, clock)
        for (const [name, seen] of clocks[before]!) clock.set(name, Math.max(seen, clock.get(name) ?? 0))
      }
      clock.set(who, at + 1)
      clocks.push(clock)
      latest.set(who, at)
    }
  }

  #want(node: Node | undefined, who: string, at: number, clock: ReadonlyMap<string, number>): void {
    if (node === undefined) return
    const { enabled, wanted } = node
    if (enabled.includes(who)) wanted.add(who)
    else {
      const leading = enabled.find((name) => (clock.get(name) ?? 0) > at + 1)
      for (const name of leading === undefined ? enabled : [leading]) wanted.add(name)
    }
  }

  /** Estimated part of all orders that was tried, from 0 to 1. Valid after `next()`. */
  get share(): number {
    let weight = 1
    let share = 0
    for (const { wanted, done } of this.#path) {
      const all = new Set([...wanted, ...done]).size
      share += (weight * done.size) / all
      weight /= all
    }
    return share
  }

  /**
   * Returns the orders that were not tried, the shortest prefix first. `after` contains the clients of the prefix,
   * `next` the clients that can continue after it. Valid after `next()`.
   */
  left(): readonly { readonly after: readonly string[]; readonly next: readonly string[] }[] {
    return this.#path.flatMap(({ wanted, done, asleep, picked }, at) => {
      const isLast = at === this.#path.length - 1
      const next = [...wanted].filter((name) => (isLast || name !== picked) && !done.has(name) && !asleep.has(name))
      return next.length === 0 ? [] : [{ after: this.#path.slice(0, at).map((node) => node.picked), next }]
    })
  }
}
