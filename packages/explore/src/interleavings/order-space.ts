import { lineOf } from '../campaign/failure-line.js'
import type { FailedRun, IndexSpace } from '../campaign/index-space.js'
import type { InterleavingExploration } from './tried-orders.js'

/** Called after each order. It gets the failure, if there is one, and the order in which the clients ran. */
export type OrderEnded = (broken: string | undefined, order: readonly string[]) => void

type Turns = ReadonlyMap<string, number>

/** The parts of `exploreInterleavings()` that a campaign calls. */
interface OrderWork {
  plan(): Promise<Turns>
  attempt(orders: (turns: Turns) => Iterable<readonly string[]>, ended: OrderEnded): Promise<void>
  replay(order: string): Promise<InterleavingExploration>
}

/**
 * Returns the orders of the clients' requests as numbered runs. The orders are sorted lexicographically, so a worker
 * can compute the order of any run. Equivalent orders are not skipped. If there are more orders than runs, the runs are
 * spread evenly over all orders.
 */
export function orderSpace(runs: number, work: OrderWork): IndexSpace {
  const sizeOf = (turns: Turns): number => {
    const all = allOrders([...turns.values()])
    return all < BigInt(runs) ? Number(all) : runs
  }
  function* ordersIn(turns: Turns, from: number, to: number): Iterable<readonly string[]> {
    const [all, size] = [allOrders([...turns.values()]), BigInt(sizeOf(turns))]
    for (let run = from; run < to; run++) yield orderAt((BigInt(run) * all) / size, turns)
  }
  return {
    check: 'exploreInterleavings',
    count: async () => sizeOf(await work.plan()),
    async attempt(from, to, ended) {
      let [run, failed] = [from, 0]
      let first: FailedRun | undefined
      let all = 0n
      const orders = (turns: Turns): Iterable<readonly string[]> => {
        all = allOrders([...turns.values()])
        return ordersIn(turns, from, to)
      }
      await work.attempt(orders, (broken, order) => {
        if (broken !== undefined) failed++
        if (broken !== undefined) first ??= { run, why: lineOf(`${order.join(' ')}: ${broken}`) }
        run++
        ended(broken !== undefined)
      })
      const notes = all > BigInt(runs) ? [`The runs are spread evenly over ${digits(all)} orders.`] : []
      return { failed, skipped: 0, ...(first && { first }), coverage: [], notes }
    },
    async report(run) {
      let replay = ''
      await work.attempt(
        (turns) => ordersIn(turns, run, run + 1),
        (_, order) => {
          replay = order.join(' ')
        },
      )
      return (await work.replay(replay)).report() || undefined
    },
  }
}

/** Returns how many orders of the requests are possible. @param turns number of requests of each client */
function allOrders(turns: readonly number[]): bigint {
  let [count, place] = [1n, 0n]
  for (const each of turns) for (let turn = 1n; turn <= each; turn++) count = (count * ++place) / turn
  return count
}

/** Returns the order with this index. Index 0 is the order in which the clients run one after the other. */
function orderAt(rank: bigint, turns: Turns): readonly string[] {
  const left = new Map(turns)
  const order: string[] = []
  for (let rest = rank; ; ) {
    const names = [...left.keys()].filter((name) => left.get(name)! > 0)
    if (names.length === 0) return order
    for (const name of names) {
      const others = new Map(left).set(name, left.get(name)! - 1)
      const count = allOrders([...others.values()])
      if (rest >= count) {
        rest -= count
        continue
      }
      order.push(name)
      left.set(name, left.get(name)! - 1)
      break
    }
  }
}

function digits(count: bigint): string {
  return count < 10n ** 15n ? count.toLocaleString('en-US') : `10^${String(count).length - 1}`
}
