import { setTimeout as wait } from 'node:timers/promises'
import type { Balancer } from './balancer.js'
import { commands, storeToken } from './load.js'

/** Messages of one stream until it broke. */
interface Segment {
  readonly heard: number[]
  /** Numbers that were acknowledged while it was open, when its subscriber was counted. */
  readonly due: number[]
}

/**
 * A client that subscribes to a channel of a tenant and publishes numbers to it. When a stream breaks, it opens
 * another.
 */
export class Listener {
  readonly tenant: string
  readonly segments: Segment[] = []
  /** Numbers whose publish timed out. They may arrive later than the ones after them. */
  readonly unknown = new Set<number>()
  readonly #balancer: Balancer
  #open: Segment | undefined
  #number = 0

  constructor(tenant: string, balancer: Balancer) {
    this.tenant = tenant
    this.#balancer = balancer
  }

  async listen(isOver: () => boolean): Promise<void> {
    const telling = this.#tell(isOver)
    while (!isOver()) {
      const stream = await this.#balancer.open({
        path: `/${this.tenant}/store/subscribe/numbers`,
        headers: { authorization: `Bearer ${storeToken}`, accept: 'text/event-stream' },
      })
      if (stream?.statusCode !== 200) {
        stream?.destroy()
        await wait(100)
        continue
      }
      const segment: Segment = { heard: [], due: [] }
      this.segments.push(segment)
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        text += part
        if (/^data: subscribe,/m.test(text)) this.#open = segment
        for (const [, number] of text.matchAll(/^data: message,numbers,(\d+)\n/gm)) segment.heard.push(Number(number))
        text = text.slice(text.lastIndexOf('\n') + 1)
      })
      const ended = new Promise<void>((resolve) => stream.once('close', () => resolve()))
      while (!isOver() && !stream.destroyed) await Promise.race([ended, wait(50)])
      if (this.#open === segment) this.#open = undefined
      // Pending messages may still arrive.
      if (!stream.destroyed) await wait(300)
      stream.destroy()
    }
    await telling
  }

  async #tell(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const before = this.#open
      const number = this.#number++
      const told = await this.#balancer.ask(commands(this.tenant, ['PUBLISH', 'numbers', String(number)]))
      if (told.kind === 'unknown') this.unknown.add(number)
      // The subscriber was not counted, or another stream may have been.
      const isHeard =
        told.kind === 'answered' && told.status === 200 && (JSON.parse(told.body) as { result: number }).result > 0
      if (isHeard && before !== undefined && before === this.#open) before.due.push(number)
      await wait(100)
    }
  }
}
