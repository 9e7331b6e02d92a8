import { text } from '../../../../src/kernel/bytes.js'
import { plainText } from '../../../../src/report/safe-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { callWith } from '../crash/run-requests.js'
import { carrier } from '../crash/step-chance.js'
import { type InterleavingStep, stepTexts } from './client-run.js'

interface Waiting {
  readonly label: string
}

interface Choice {
  readonly picked: number
  readonly outOf: number
}

/**
 * Admits the requests of concurrent deliveries one by one. When nothing else runs, one of the waiting requests
 * continues. A list of indexes, the picks, decides which request that is. `next()` returns the picks of an order that
 * was not tried yet.
 */
export class DeliveryGate {
  /** Labels of the admitted requests, except requests that were the only waiting request. */
  readonly order: string[] = []
  /** All requests in order, with their responses. */
  readonly steps: InterleavingStep[] = []
  readonly #picks: readonly number[]
  readonly #choices: Choice[] = []
  readonly #waiting: Waiting[] = []
  #chosen: Waiting | undefined
  #deliveries = 0

  constructor(picks: readonly number[]) {
    this.#picks = picks
  }

  /** Lets each start of a handler, and each request of a handler, wait until it is admitted. */
  guard(sandbox: Sandbox): void {
    const { destinations, traffic } = sandbox
    const current = carrier<string>('exploreInterleavings()')
    const deliver = destinations.deliver.bind(destinations)
    let number = 0
    destinations.deliver = (async (...given: Parameters<typeof deliver>) => {
      this.#deliveries++
      try {
        const who = `delivery ${++number}`
        await this.#pass(sandbox, `${who} starts`)
        return await current.run(who, () => deliver(...given))
      } finally {
        this.#deliveries--
      }
    }) as typeof deliver
    const exchange = sandbox.exchange.bind(sandbox)
    sandbox.exchange = async (call) => {
      // While no delivery runs, requests come from the scenario. They are not concurrent, and the clock does not move.
      if (this.#deliveries === 0) return exchange(call)
      const body = await call.body()
      const who = current.getStore() ?? 'a delivery'
      const asked = `${call.method} ${pathOf(call.url)} ${plainText(text(body).slice(0, 40))}`.trim()
      await this.#pass(sandbox, `${who}: ${asked}`)
      const before = traffic.entries.length
      const answer = await exchange(callWith(call, body))
      const entries = traffic.entries.slice(before)
      this.steps.push({ client: who, entries, ...stepTexts(entries, '') })
      return answer
    }
  }

  /**
   * Waits until this request is admitted. The clock wakes a request only when nothing else runs. At that instant,
   * `#waiting` contains all requests that could continue.
   */
  #pass({ clock }: Sandbox, label: string): Promise<void> {
    const me: Waiting = { label }
    this.#waiting.push(me)
    return clock.track(`turn of ${label}`, async (task) => {
      do {
        await task.sleep(0)
        this.#chosen ??= this.#choose()
      } while (this.#chosen !== me)
      this.#chosen = undefined
      this.#waiting.splice(this.#waiting.indexOf(me), 1)
    })
  }

  #choose(): Waiting {
    const outOf = this.#waiting.length
    if (outOf === 1) return this.#waiting[0]!
    const picked = this.#picks[this.#choices.length] ?? 0
    this.#choices.push({ picked, outOf })
    const chosen = this.#waiting[picked]!
    this.order.push(chosen.label)
    return chosen
  }

  /** Returns the picks of another order, or `undefined` if all orders were tried. */
  next(): readonly number[] | undefined {
    const last = this.#choices.findLastIndex(({ picked, outOf }) => picked + 1 < outOf)
    if (last === -1) return undefined
    return [...this.#choices.slice(0, last).map(({ picked }) => picked), this.#choices[last]!.picked + 1]
  }
}

function pathOf(url: string): string {
  return URL.canParse(url) ? decodeURI(new URL(url).pathname) : url
}
