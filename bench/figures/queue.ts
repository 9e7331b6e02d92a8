// Cost of a delivery attempt, over the bare loop of a queue: take the earliest timer, call, record.
import { createSandbox, type Sandbox } from 'stuntdouble'
import type { Figure, Variant } from '../harness.ts'

const url = 'https://shop.test/orders'
const start = Date.UTC(2030, 0, 1)
const body = '{"id":1}'

interface Timer {
  readonly at: number
  readonly sequence: number
  readonly id: string
  state: string
}

/** A minimal binary heap on (time, sequence). */
class Heap {
  readonly items: Timer[] = []

  push(item: Timer): void {
    const { items } = this
    let index = items.length
    items.push(item)
    while (index > 0 && before(item, items[(index - 1) >> 1]!)) {
      items[index] = items[(index - 1) >> 1]!
      index = (index - 1) >> 1
    }
    items[index] = item
  }

  pop(): Timer | undefined {
    const { items } = this
    const top = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return top
    let index = 0
    for (let child = 1; child < items.length; child = 2 * index + 1) {
      if (child + 1 < items.length && before(items[child + 1]!, items[child]!)) child++
      if (!before(items[child]!, last)) break
      items[index] = items[child]!
      index = child
    }
    items[index] = last
    return top
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence)
}

let spent = 0

/** Counts only the loop, not its preparation. */
async function counted(work: () => Promise<void>): Promise<void> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  spent = user + system
}

const spread = (index: number): number => start + ((index * 7919) % 100) * 1000

function bare(name: string, handler: (timer: Timer) => Promise<{ readonly status: number }>): Variant {
  return {
    name,
    run(times) {
      const heap = new Heap()
      const log: object[] = []
      for (let index = 0; index < times; index++)
        heap.push({ at: spread(index), sequence: index, id: `msg_${index}`, state: 'CREATED' })
      return counted(async () => {
        for (let timer = heap.pop(); timer !== undefined; timer = heap.pop()) {
          const { status } = await handler(timer)
          timer.state = status === 200 ? 'DELIVERED' : 'RETRY'
          log.push({ at: timer.at, id: timer.id, status })
        }
      })
    },
  }
}

function attempts(name: string, register: (sandbox: Sandbox) => void): Variant {
  return {
    name,
    run(times) {
      const sandbox = createSandbox({ startAt: start })
      register(sandbox)
      const headers = { 'content-type': 'application/json' }
      for (let index = 0; index < times; index++) {
        sandbox.queue.publish({ to: url, body, headers, notBefore: spread(index) })
      }
      return counted(() => sandbox.clock.drain({ maxTimers: times * 2 }))
    },
  }
}

function plainAttempts(): Figure {
  return {
    name: '1M attempts to a plain destination over the bare asynchronous loop',
    baseline: bare('bare loop', async () => ({ status: 200 })),
    variants: [attempts('plain', ({ destinations }) => destinations.respond(url, () => 200))],
    times: 1_000_000,
    rounds: 3,
    reading: () => spent,
    atMost: { plain: 2.2 },
  }
}

/** Signed on both sides, because the cost of a signature is a separate figure. */
function requestAttempts(): Figure {
  const { queue } = createSandbox({ startAt: start })
  const handler = async (_request: Request): Promise<Response> => new Response(null)
  // A message that was published in the neutral dialect is delivered with the headers of both dialects.
  const headersOf = ({ id }: Timer): [string, string][] => [
    ['User-Agent', 'Service/1.0'],
    ['Content-Type', 'application/json'],
    ...(['Service', 'Upstash'] as const).flatMap((prefix): [string, string][] => [
      [`${prefix}-Signature`, queue.sign({ url, body }, { dialect: prefix.toLowerCase() })],
      [`${prefix}-Message-Id`, `${id}_26hZCxZCuWyyTWPmSVBrNB882AEehcjKoSNZ`],
      [`${prefix}-Retried`, '0'],
      [`${prefix}-Caller-Ip`, '127.0.0.1'],
      [`${prefix}-Region`, 'EU-CENTRAL-1'],
    ]),
  ]
  return {
    name: 'attempts to a Request → Response destination over the bare loop that signs and builds the same objects',
    baseline: bare('bare loop', (timer) =>
      handler(new Request(url, { method: 'POST', headers: headersOf(timer), body })),
    ),
    variants: [attempts('request', ({ destinations }) => destinations.on(url, handler))],
    times: 50_000,
    rounds: 9,
    reading: () => spent,
    atMost: { request: 1.3 },
  }
}

function signatures(): Figure {
  const { queue } = createSandbox({ startAt: start })
  let at = 0
  return {
    name: 'a signature over its claims as JSON',
    baseline: {
      name: 'claims',
      run(times) {
        for (let count = 0; count < times; count++)
          JSON.stringify({ iss: 'Service', sub: url, exp: at++, nbf: 0, iat: count, jti: 'jwt_' })
      },
    },
    variants: [
      {
        name: 'signed',
        run(times) {
          for (let count = 0; count < times; count++) queue.sign({ url, body: `${body}${at++}` })
        },
      },
    ],
    within: { signed: 20 },
  }
}

/** Returns a queue in which this many messages wait for a long time. */
function waiting(count: number): Sandbox {
  const sandbox = createSandbox({ startAt: start })
  sandbox.destinations.respond('https://*', () => 200)
  for (let index = 0; index < count; index++) sandbox.queue.publish({ to: url, body, delay: '300d' })
  return sandbox
}

function oneAmongMany(): Figure {
  const variant = (name: string, count: number): Variant => {
    const { queue, clock } = waiting(count)
    return {
      name,
      async run(times) {
        for (let index = 0; index < times; index++) queue.publish({ to: 'https://shop.test/now', body })
        await clock.advance(1)
      },
    }
  }
  return {
    name: 'publish and deliver one message while 1M wait over while 10k wait',
    baseline: variant('10k', 10_000),
    variants: [variant('1M', 1_000_000)],
    atMost: { '1M': 2 },
  }
}

function byId(): Figure {
  const variant = (name: string, method: string, count: number): Variant => {
    const sandbox = waiting(count)
    const ids = sandbox.queue.messages.map(({ id }) => id)
    const headers = [['authorization', `Bearer ${sandbox.tokens.queue}`]] as const
    let at = 0
    return {
      name,
      run(times) {
        for (let index = 0; index < times; index++) {
          at = (at + 7919) % ids.length
          sandbox.exchange({
            method,
            url: `${sandbox.urls.queue}/v2/messages/${ids[at]}`,
            headers,
            body: () => '' as never,
          })
        }
      },
    }
  }
  return {
    name: 'GET and DELETE of a message by id among 100k over a GET among 100',
    baseline: variant('GET of 100', 'GET', 100),
    variants: [variant('GET of 100k', 'GET', 100_000), variant('DELETE of 100k', 'DELETE', 100_000)],
    times: 2000,
    atMost: { 'GET of 100k': 2, 'DELETE of 100k': 2 },
  }
}

function month(): Figure {
  const fired: Variant = {
    name: 'firings',
    async run(times) {
      const sandbox = createSandbox({ startAt: start })
      sandbox.destinations.respond(url, () => 200)
      const { urls, tokens } = sandbox
      const headers = { authorization: `Bearer ${tokens.queue}`, 'service-cron': '* * * * *' }
      await sandbox.fetch(`${urls.queue}/v2/schedules/${url}`, { method: 'POST', headers, body })
      return counted(() => sandbox.clock.advance(times * 60_000))
    },
  }
  return {
    name: '30 days of a schedule that fires every minute, a firing',
    baseline: fired,
    variants: [],
    times: 43_200,
    rounds: 3,
    reading: () => spent,
    // 1.5 s in total.
    within: { firings: 1_500_000 / 43_200 },
  }
}

function memory(): Figure {
  let used = 0
  let kept: Sandbox | undefined
  const heap = (): number => {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  return {
    name: 'memory of a pending message beside its body',
    baseline: {
      name: 'message',
      run(times) {
        kept = undefined
        const before = heap()
        kept = waiting(times)
        used = heap() - before
      },
    },
    variants: [],
    times: 100_000,
    rounds: 3,
    unit: 'B',
    reading: () => used,
    within: { message: 800 },
    dispose: () => kept?.dispose(),
  }
}

export const figures: readonly (() => Figure)[] = [
  plainAttempts,
  requestAttempts,
  signatures,
  oneAmongMany,
  byId,
  month,
  memory,
]
