// `npm run test:nightly -- soak`: checks that a sandbox with 140 requests a second for days of virtual time keeps a
// constant size once its limits are reached: its heap must grow by less than 1 MB an hour. Prints the slope of each
// kind of request, and exits with 1 when one is too steep.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSandbox, type Sandbox } from '../../src/index.js'

const perSecond = 140
const perHour = perSecond * 3600
/** Bytes by which the heap may grow in an hour. */
const maxPerHour = 1_000_000
/** Number of rounds after the first, in which the limits are reached, and of requests per round. */
const rounds = 12
const quick = 75_000
const slow = 40_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heap(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

type Ask = (sandbox: Sandbox, count: number) => unknown

function store(row: (count: number) => readonly unknown[], path = '/'): Ask {
  return async (sandbox, count) => {
    const answer = await sandbox.exchange({
      method: 'POST',
      url: `${sandbox.urls.store}${path}`,
      headers: [
        ['authorization', `Bearer ${sandbox.tokens.store}`],
        ['x-request-id', String(count)],
      ],
      body: () => JSON.stringify(row(count)) as never,
    })
    if (answer.status >= 500) throw new Error(`${JSON.stringify(row(count))} was answered ${answer.status}.`)
  }
}

const publish =
  (to: string, more: object = {}): Ask =>
  ({ queue }, count) =>
    void queue.publish({ to, body: { count }, ...more })

/** One row per kind of request, with its number per round. */
const asked: readonly (readonly [name: string, count: number, ask: Ask])[] = [
  ['a key that is not there', quick, store(() => ['GET', 'nokey'])],
  ['a key for each request', quick, store((count) => ['GET', `key ${count}`])],
  ['one key rewritten', quick, store((count) => ['SET', 'key', `value ${count} `.repeat(10)])],
  ['keys that expire', quick, store((count) => ['SET', `window ${count}`, count, 'EX', 10])],
  [
    'a pipeline',
    quick / 3,
    store(
      (count) => [
        ['INCR', 'n'],
        ['HSET', 'h', 'f', count],
        ['EXPIRE', 'h', 60],
      ],
      '/pipeline',
    ),
  ],
  [
    'a transaction',
    quick / 3,
    store(
      (count) => [
        ['ZADD', 'z', count, 'm'],
        ['ZCARD', 'z'],
      ],
      '/multi-exec',
    ),
  ],
  ['a list polled', quick / 3, store(() => ['LRANGE', 'list', 0, -1])],
  ['a script', quick / 3, store(() => ['EVAL', "return redis.call('INCR', KEYS[1])", 1, 'n'])],
  ['a scan', quick / 3, store(() => ['SCAN', 0])],
  ['a command that is refused', quick / 3, store((count) => [`NOPE${count}`, 'x'])],
  ['a direct call', quick, ({ store: direct }) => direct.run('GET', 'nokey')],
  ['a message', slow, publish('https://shop.test/orders')],
  ['a message that fails', slow, publish('https://shop.test/broken', { retries: 1 })],
  [
    'a message told twice',
    slow,
    ({ queue }, count) => {
      const once = { to: 'https://shop.test/orders', deduplicationId: `order ${count}` } as const
      queue.publish(once)
      queue.publish(once)
    },
  ],
  [
    'a call to another host',
    slow,
    ({ outbound }, count) => outbound.fetch(`https://bank.test/${count}`).then((got) => got.text()),
  ],
]

async function soaked(count: number, ask: Ask): Promise<{ readonly slope: number; readonly held: number }> {
  using sandbox = createSandbox({ policy: { maxTrafficBytes: 2_000_000 } })
  sandbox.destinations.on('https://shop.test/orders', () => new Response('ok'))
  sandbox.destinations.on('https://shop.test/broken', () => new Response('no', { status: 500 }))
  sandbox.outbound.on('https://bank.test/*', () => new Response('ok'))
  sandbox.store.run('RPUSH', 'list', ...Array.from({ length: 50 }, (_, index) => `element ${index}`))
  const heaps: number[] = []
  for (let round = 0, number = 0; round <= rounds; round++) {
    for (let one = 0; one < count; one++) {
      await ask(sandbox, number++)
      if (number % perSecond === 0) await sandbox.clock.advance('1s')
    }
    // Pending work ends, and time windows close.
    await sandbox.clock.advance('20m')
    heaps.push(heap())
  }
  return { slope: slopeOf(heaps.slice(1)) / count, held: heaps.at(-1)! }
}

/**
 * Measures from the minimum of the first half to that of the second, because logs and lists that drop half of their
 * items rise and fall.
 */
function slopeOf(heaps: readonly number[]): number {
  const half = heaps.length / 2
  return (Math.min(...heaps.slice(half)) - Math.min(...heaps.slice(0, half))) / half
}

let bad = 0
const words = process.argv.slice(2)
for (const [name, count, ask] of asked) {
  if (words.length > 0 && !words.includes(name)) continue
  const { slope, held } = await soaked(count, ask)
  const grown = slope * perHour
  // The size after a garbage collection varies by about 250 kB; one retained object per request adds far more.
  const uncertain = (250_000 / ((count * rounds) / 2)) * perHour
  const isBad = grown > maxPerHour + uncertain
  if (isBad) bad++
  console.log(
    `${isBad ? '✗' : '✓'} ${name}: ${(grown / 1e6).toFixed(2)} MB an hour, ${(held / 1e6).toFixed(1)} MB held`,
  )
}
process.exit(bad === 0 ? 0 : 1)
