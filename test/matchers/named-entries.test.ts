import { sandboxMatchers } from 'stuntdouble/matchers'
import { expect, test } from 'vitest'
import { withTrace } from '../../fixtures/fixture-sandbox.js'
import { createSandbox, fault, type Sandbox } from '../../src/index.js'
import { createRandom } from '../../src/kernel/random.js'
import { acts, apps, register } from '../sandbox/random-world.js'
import { runs, seedOr } from '../support/effort.js'

// A failure names entries by their numbers, so its timeline must contain each of them.

type Name = keyof typeof sandboxMatchers

function failure(sandbox: Sandbox, name: Name, ...given: readonly unknown[]): string | undefined {
  const judge = sandboxMatchers[name] as unknown as (...given: unknown[]) => { pass: boolean; message(): string }
  const { pass, message } = judge.call({}, sandbox, ...given)
  return pass ? undefined : message()
}

/** Returns the entry numbers at the start of lines. */
const shownIn = (story: string): number[] => [...story.matchAll(/^ +#(\d+) {2}/gm)].map(([, seq]) => Number(seq))
const namedIn = (text: string): number[] => [...text.matchAll(/#(\d+)\b/g)].map(([, seq]) => Number(seq))

function check(text: string, { traffic }: Sandbox, most = 40): void {
  const [above = '', story = ''] = text.split(/^Replay: .*$/m)
  const shown = shownIn(story)
  const seqs = new Set(traffic.entries.map(({ seq }) => seq))
  for (const seq of namedIn(above)) if (seqs.has(seq)) expect(shown, `#${seq} in\n${text}`).toContain(seq)
  expect(text.split('\n').length, text).toBeLessThanOrEqual(most)

  const begun = new Set<string>()
  for (const seq of shown) {
    const entry = traffic.entries.find((one) => one.seq === seq)!
    if (entry.type !== 'attempt') continue
    if (entry.retried > 0)
      expect([...begun], `attempt 1 of the message of #${seq} in\n${text}`).toContain(entry.messageId)
    begun.add(entry.messageId)
  }

  // Gaps are counted at their position only.
  const marks = [...story.matchAll(/^ {2}… (\d+) (?:entry|entries) left out$/gm)].map(([, count]) => Number(count))
  const more = Number(/^ {2}… (\d+) more: /m.exec(story)?.[1] ?? 0)
  const marked = marks.reduce((sum, count) => sum + count, 0)
  const isFolded = /callbacks?, delivered$/m.test(story)
  // Entries that repeat others are shown only if the failure names them.
  const all = new Set([...shownIn(traffic.timeline()), ...shown]).size
  if (!isFolded && shown.length > 0) expect(shown.length + marked + more, text).toBe(all)
  const rows = story.split('\n').filter((line) => /^ +#\d+ {2}|entr(?:y|ies) left out$/.test(line))
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1] ?? ''
    const [from, to] = [before, row].map((line) => shownIn(line)[0] ?? Number.NaN)
    const unmarked = traffic.entries.filter(({ seq }) => seq > from! && seq < to!)
    if (!isFolded)
      expect(
        unmarked.map(({ type }) => type).filter((type) => !isQuiet.has(type)),
        text,
      ).toEqual([])
  }
}

/** Returns the entries that a timeline omits because they repeat others. */
const isQuiet: ReadonlySet<string> = new Set(['keyspace', 'message', 'clock'])

test('shows every named entry, starts with attempt 1 and counts omitted entries', async () => {
  const rounds = runs(40, 400, 4000)
  let failures = 0
  for (let round = 0; round < rounds; round++) {
    const random = createRandom(seedOr(34) * 100_000 + round)
    using sandbox = createSandbox({ seed: round, dialect: 'upstash', onWarning: () => {} })
    register(sandbox)
    for (let left = 3 + random.int(30); left > 0; left--) await acts[random.int(acts.length)]!(sandbox, random)
    const url = apps[random.int(apps.length)]!
    const seq = 1 + random.int(Math.max(1, sandbox.traffic.size))
    const texts = [
      failure(sandbox, 'toHaveDelivered', { to: url, body: { n: random.int(100) } }),
      failure(sandbox, 'toHaveDelivered', { to: url, attempts: 3 + random.int(3) }),
      failure(sandbox, 'toHaveDelivered', { to: url }, { times: random.int(4) }),
      failure(sandbox, 'toHavePublished', { to: url, retries: 4 }),
      failure(sandbox, 'toHaveDeadLetter', { to: url, status: 404 }),
      failure(sandbox, 'toHaveDeduplicated', { to: url, deduplicationId: '9' }),
      failure(sandbox, 'toHaveDeliveredCallback', { status: 418 }),
      failure(sandbox, 'toHaveReceivedRequest', { url: '*/publish/*', status: 418 }),
      failure(sandbox, 'toHaveExecuted', 'INCR', 'charged'),
      failure(sandbox, 'toHaveKey', 'charges', { value: '99' }),
      failure(sandbox, 'toFollowSequence', [
        { type: 'published' },
        { type: 'attempt', status: 200 },
        { type: 'keyspace' },
        { type: 'dead-letter', status: 418 },
      ]),
    ]
    // The failure has its own text, a few hints and at most forty lines.
    check(withTrace(`expected #${seq} to be another one`, sandbox), sandbox, 50)
    for (const text of texts) {
      if (text === undefined) continue
      failures++
      if (!/^ {2}\(/m.test(text)) check(text, sandbox)
    }
  }
  expect(failures).toBeGreaterThan(rounds * 5)
}, 300_000)

const orders = 'https://shop.test/orders'

/** Publishes 25 orders to an app with given responses. */
async function world(answer: number, publish: (sandbox: Sandbox, n: number) => unknown): Promise<Sandbox> {
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z' })
  sandbox.destinations.respond(orders, answer)
  for (let n = 1; n <= 25; n++) await publish(sandbox, n)
  return sandbox
}

test.for([
  ['held by a rate', 200, { flowControlKey: 'k', flowControlValue: 'rate=5, period=10s' }],
  ['in a queue', 500, { queue: 'orders' }],
  ['failed permanently', 500, { retries: 3 }],
  ['to be delivered later', 200, { delay: '1h' }],
] as const)('shows the message with the expected body among many: %s', async ([state, answer, more]) => {
  using sandbox = await world(answer, ({ queue }, n) => queue.publish({ to: orders, body: { n }, ...more }))
  if (state === 'failed permanently') await sandbox.clock.drain()
  else await sandbox.clock.advance('1s')
  const text = failure(sandbox, 'toHaveDelivered', { body: { n: 17 } })!
  check(text, sandbox)
  expect(text.split(/^Replay: /m)[1]).toContain('body: {"n":17}')
})

test('marks gaps at their position and starts with the first attempt', async () => {
  using sandbox = await world(500, ({ queue }, n) => queue.publish({ to: orders, body: { n }, retries: 2 }))
  await sandbox.clock.drain()
  const text = withTrace('expected 1 to be 2', sandbox)
  check(text, sandbox, 50)
  expect(text).toMatch(/^ {2}… \d+ entries .*\n +#\d+ .* attempt 1 of 3 /m)

  using other = await world(200, ({ queue }, n) => queue.publish({ to: orders, body: { n } }))
  other.destinations.script(orders, [fault.status(500)])
  const [first] = other.queue.messages
  await other.clock.drain()
  const told = failure(other, 'toHaveDelivered', { messageId: first!.id, attempts: 1 })!
  check(told, other)
  expect(told).toMatch(
    /#1 .* published (?:.|\n)*attempt 1 of 4(?:.|\n)*\n {2}… \d+ entries .*\n(?:.|\n)*attempt 2 of 4/,
  )
})
