import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isServicesOwn } from '../support/deviations.js'
import { createEngine } from '../support/engine.js'
import { type LiveRedis, startRedis } from '../support/live-redis.js'
import { type Section, wordsAt } from '../support/steps.js'

const groups = ['string', 'bitmap', 'hash', 'list', 'set', 'sorted-set', 'geo', 'hyperloglog', 'stream', 'generic']

const pattern = '__keyevent@0__:*'
const message = /pmessage\r\n\$16\r\n__keyevent@0__:\*\r\n\$\d+\r\n__keyevent@0__:([^\r]*)\r\n\$\d+\r\n([^\r]*)\r\n/g

const pong = '$4\r\npong\r\n$0\r\n\r\n'

/** Second connection that receives every event; `heard` returns those since the last call. */
class EventFeed {
  readonly #socket: Socket
  #buffer = ''
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#buffer += chunk.toString('latin1')
      this.#wake()
    })
  }

  static async open(port: number): Promise<EventFeed> {
    const feed = new EventFeed(connect(port, '127.0.0.1'))
    feed.#socket.write(`*2\r\n$10\r\nPSUBSCRIBE\r\n$${pattern.length}\r\n${pattern}\r\n`)
    await feed.heard()
    return feed
  }

  /** Waits for the reply to a ping, which follows everything that was sent before; a key may expire right after it. */
  async heard(): Promise<string[]> {
    this.#socket.write('*1\r\n$4\r\nPING\r\n')
    while (!this.#buffer.includes(pong)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const end = this.#buffer.indexOf(pong)
    const events = [...this.#buffer.slice(0, end).matchAll(message)].map(([, event, key]) => `${event} ${key}`)
    this.#buffer = this.#buffer.slice(end + pong.length)
    return events
  }

  close(): void {
    this.#socket.destroy()
  }
}

let redis: LiveRedis
let feed: EventFeed

beforeAll(async () => {
  redis = await startRedis()
  await redis.client.send(['CONFIG', 'SET', 'notify-keyspace-events', 'KEA'])
  feed = await EventFeed.open(redis.port)
})

afterAll(async () => {
  feed.close()
  await redis.stop()
})

describe.each(groups)('%s', (group) => {
  it('publishes the same keyspace events in the same order', async () => {
    const { steps } = (await import(`../store/${group}.steps.ts`)) as { steps: readonly Section[] }
    const differences: string[] = []
    for (const section of steps.filter(({ source }) => source === undefined)) {
      const ours: string[] = []
      const engine = createEngine((event, key) => ours.push(`${event} ${key}`))
      await redis.client.send(['FLUSHALL'])
      await feed.heard()
      // A real server may delete an expired key before a command reads it.
      const early = new Set<string>()
      for (const step of section.steps.filter(({ advance }) => advance === undefined)) {
        // Commands that only the service has change nothing on the live server.
        if (isServicesOwn(wordsAt(step, 0))) continue
        ours.length = 0
        engine.execute(wordsAt(step, engine.now()))
        await redis.client.raw(wordsAt(step, Date.now()))
        const heard = await feed.heard()
        const theirs = heard.filter((event) => {
          if (event.startsWith('expired ') && !ours.includes(event)) early.add(event)
          return !early.has(event)
        })
        const told = ours.filter((event) => !early.delete(event))
        // Random removals may empty a key on one side only.
        if (step.loose.has('shape')) continue
        if (theirs.join() !== told.join()) differences.push(`${step.text}: ${theirs.join()} | ${told.join()}`)
      }
      differences.push(...[...early].map((event) => `${event} | never`))
    }
    expect(differences).toEqual([])
  })
})
