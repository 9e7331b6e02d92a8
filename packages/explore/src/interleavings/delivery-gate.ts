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
 * Lets one at a time through: whenever everything stands still, one of those who wait goes on. Which one is decided by
 * a list of picks; `next()` gives the list for the next order that has not been tried.
 */
export class DeliveryGate {
  /** Who went, one after the other, where there was a choice. */
  readonly order: string[] = []
  /** All requests, one after the other, and what came back. */
  readonly steps: InterleavingStep[] = []
  readonly #picks: readonly number[]
  readonly #choices: Choice[] = []
  readonly #waiting: Waiting[] = []
  #chosen: Waiting | undefined
  #deliveries = 0

  constructor(picks: readonly number[]) {
    this.#picks = picks
  }

  /** Makes handlers and their requests wait for their turn. */
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
      // What the scenario itself asks for is not concurrent with anything, and nobody moves the clock meanwhile.
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

  /** The clock only wakes somebody when nothing runs: then everybody who could go on is here. */
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

  /** Picks for another order, `undefined` when all have been tried. */
  next(): readonly number[] | undefined {
    const last = this.#choices.findLastIndex(({ picked, outOf }) => picked + 1 < outOf)
    if (last === -1) return undefined
    return [...this.#choices.slice(0, last).map(({ picked }) => picked), this.#choices[last]!.picked + 1]
  }
}

function pathOf(url: string): string {
  return URL.canParse(url) ? decodeURI(new URL(url).pathname) : url
}
