import { createSandbox, fault, type Sandbox } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { describe, test } from 'vitest'
import { failureOf } from './failure.js'

const orders = 'https://shop.test/orders'
const done = 'https://shop.test/done'

function asker({ urls, fetch, tokens }: Sandbox, tries = 1): (words: unknown) => Promise<unknown> {
  const headers = { authorization: `Bearer ${tokens.store}` }
  return async (words) => {
    for (let attempt = 1; ; attempt++) {
      try {
        const url = `${urls.store}/pipeline`
        return await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(words) })).json()
      } catch (error) {
        if (attempt >= tries) throw error
      }
    }
  }
}

const above = (text: string): string[] => text.slice(0, text.search(/\n\d{4}-\d\d-\d\d\n/)).split('\n')

describe('timeline of a failure', () => {
  test('shows fault, attempt and commands; the handler error comes first, once, with its line', async () => {
    using sandbox = createSandbox()
    const { clock, destinations, queue } = sandbox
    const ask = asker(sandbox)
    sandbox.faults.add({ on: 'queue.delivery', times: 1, fault: fault.lostAck() })
    destinations.record(done)
    destinations.on(orders, async () => {
      await ask([
        ['set', 'lock', 1, 'nx'],
        ['incr', 'n'],
      ])
      throw new TypeError('no such user')
    })
    queue.publish({ to: orders, retries: 1, callback: done })
    await clock.drain()
    const text = failureOf(() => expect(queue).toHaveDelivered({ to: orders }))
    const [, blank, first, line] = text.split('\n')
    expect([blank, first]).toEqual(['', `The handler of ${orders} threw in 2 attempts: TypeError: no such user`])
    expect(line).toMatch(/^ {2}in test\/matchers\/failure-text\.test\.ts:\d+:\d+$/)
    expect(text.match(/no such user/g)).toHaveLength(1)
    expect(text).toMatch(
      /fault lost-ack[^\n]*\n(?: +[^#\n]*\n)*(?:.*\n)*? +#\d+ .*POST .*\n +#\d+ .* set lock 1 nx \(pipeline\) → OK\n +#\d+ .* incr n \(pipeline\) → 1\n/,
    )
    expect(text).toMatch(/set lock 1 nx \(pipeline\) → nil\n/)
    const column = (part: string): number =>
      text
        .split('\n')
        .find((row) => /^ +#/.test(row) && row.includes(part))!
        .indexOf(part)
    expect(column('POST https://store')).toBe(column('attempt 1 of 2') + 2)
    expect(column('set lock')).toBe(column('attempt 1 of 2') + 4)
    // Of two delivered callbacks, only the one that the failure names is shown.
    expect(text).toContain('\n  1 callback, delivered')
    expect(text.match(/attempt \d of \d of callback/g)).toHaveLength(1)
  })

  test('shows a callback that the matcher names, and a failed one', async () => {
    using sandbox = createSandbox()
    sandbox.destinations.record(orders)
    sandbox.destinations.respond(done, () => 500)
    sandbox.queue.publish({ to: orders, callback: done, retries: 0 })
    await sandbox.clock.drain()
    const text = failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: orders, status: 201 }))
    expect(text).toMatch(/callback msg_\w+… to https:\/\/shop\.test\/done → 500/)
    using other = createSandbox()
    other.destinations.record(orders)
    other.destinations.record(done)
    other.queue.publish({ to: orders, callback: done })
    await other.clock.drain()
    const asked = failureOf(() => expect(other.queue).toHaveDeliveredCallback({ to: done, status: 201 }))
    expect(asked).toMatch(/callback msg_\w+… to https:\/\/shop\.test\/done → 200/)
  })

  test('shows the message in question among many, in at most 40 lines', async () => {
    using sandbox = createSandbox()
    const { clock, destinations, queue } = sandbox
    const ask = asker(sandbox)
    destinations.on('https://shop.test/*', async (request) => {
      const { n } = (await request.json()) as { n: number }
      await ask([['incr', `n:${n}`]])
      return new Response(null, { status: n === 17 ? 500 : 200 })
    })
    for (let n = 0; n < 60; n++) queue.publish({ to: orders, body: { n }, retries: 2 })
    await clock.drain()
    const text = failureOf(() => expect(queue).toHaveDelivered({ to: orders, body: { n: 17 } }))
    const rows = text.split('\n')
    expect(rows.length).toBeLessThanOrEqual(40)
    expect(above(text).length).toBeLessThanOrEqual(15)
    expect(text).toMatch(/published msg_\w+… to .*\n +body: \{"n":17\}/)
    expect(text.match(/incr n:17 \(pipeline\) → \d/g)).toHaveLength(3)
    expect(text).toMatch(/attempt 3 of 3 .* → 500/)
    expect(text).toMatch(/^ {2}(?:… \d+ more|All entries): sandbox\.traffic\.timeline\(\)$/m)
    const shown =
      rows.filter((row) => /^ +#\d/.test(row)).length - above(text).filter((row) => /^ +#\d/.test(row)).length
    const marks = [...text.matchAll(/^ {2}… (\d+) (?:more|entries left out|entry left out)/gm)]
    const more = marks.reduce((sum, [, count]) => sum + Number(count), 0)
    const all = sandbox.traffic
      .timeline()
      .split('\n')
      .filter((row) => /^ +#\d/.test(row)).length
    expect(shown + more).toBe(all)
  })

  test('names a repeated request, and whether the first one did its work', async () => {
    using sandbox = createSandbox()
    sandbox.faults.add({ on: 'store.request', times: 1, fault: fault.lostAck() })
    await asker(sandbox, 2)([['incr', 'n']])
    const hint =
      /\nHint: POST https:\/\/store\.test\/pipeline was sent 2 times: #\d+ got no response although the work was done; then #\d+ repeated it\. .*\n/
    const detail = / +the same request as #\d+, which got no response\n/
    expect(failureOf(() => expect(sandbox.store).toHaveKey('n', { value: 1 }))).toMatch(detail)
    expect(failureOf(() => expect(sandbox.store).toHaveKey('n', { value: 1 }))).toMatch(hint)
    expect(failureOf(() => expect(sandbox.store).toHaveExecuted('INCR', 'n', { times: 1 }))).toMatch(hint)
  })
})

describe('unused faults and scripts', () => {
  test('are in the failure of every matcher', () => {
    using sandbox = createSandbox()
    const { destinations, faults, queue, store } = sandbox
    faults.add({ on: 'store.request', fault: fault.status(503) })
    destinations.script(orders, [fault.status(500)])
    const texts = [
      failureOf(() => expect(store).toHaveKey('k')),
      failureOf(() => expect(store).toHaveExecuted('GET')),
      failureOf(() => expect(queue).toHavePublished()),
      failureOf(() => expect(sandbox).toHaveCost({ messages: 1 })),
      failureOf(() => expect(sandbox).toFollowSequence([{ type: 'attempt' }])),
      failureOf(() => expect(sandbox).toHaveWorkflowRun()),
    ]
    for (const text of texts) {
      const above = text.slice(0, text.indexOf('\n\nExpected'))
      expect(above).toMatch(/^The script for https:\/\/shop\.test\/orders .*status 500\..* 1 more /m)
    }
    // This failure itself is about them.
    const idle = failureOf(() => expect(sandbox).toBeIdle())
    expect(idle.slice(0, idle.indexOf('Expected'))).not.toContain('The script')
    expect(idle).toContain("Fault 'status' on store.request (test/matchers/failure-text.test.ts:")
  })

  test('are not mentioned if all were injected', () => {
    using sandbox = createSandbox()
    expect(failureOf(() => expect(sandbox.queue).toHavePublished())).not.toContain('Hint')
  })
})

describe('hint about dead letters if something is missing', () => {
  async function day(): Promise<Sandbox> {
    const sandbox = createSandbox()
    sandbox.destinations.respond(orders, () => 503)
    for (const n of [1, 2]) sandbox.queue.publish({ to: orders, body: { n }, retries: 1 })
    await sandbox.clock.advance('1d')
    return sandbox
  }

  test('is given for a key in an empty store', async () => {
    using sandbox = await day()
    expect(failureOf(() => expect(sandbox.store).toHaveKey('order:1'))).toMatch(
      /The store is empty\.\n\nHint: 2 messages went to the dead-letter queue: 2 messages to https:\/\/shop\.test\/orders, 503 Service Unavailable \(first #\d+\)\.\n/,
    )
  })

  test('is given for a command, a request and a step', async () => {
    using sandbox = await day()
    for (const fails of [
      () => expect(sandbox.store).toHaveExecuted('SET'),
      () => expect(sandbox).toHaveReceivedRequest({ service: 'store' }),
      () => expect(sandbox).toFollowSequence([{ type: 'command', argv: ['SET'] }]),
    ])
      expect(failureOf(fails)).toContain('Hint: 2 messages went to the dead-letter queue')
    // The candidate itself shows its state.
    expect(failureOf(() => expect(sandbox.queue).toHaveDelivered({ to: orders }))).not.toContain(
      '2 messages failed permanently',
    )
  })
})

test('prints full IDs of too many matches', async () => {
  using sandbox = createSandbox()
  sandbox.destinations.record(orders)
  sandbox.queue.publish({ to: orders, body: { id: 42 } })
  sandbox.queue.publish({ to: orders, body: { id: 42 }, deduplicationId: 'order 42' })
  await sandbox.clock.drain()
  const [one, other] = sandbox.traffic.ofType('published').map(({ messageId }) => messageId)
  for (const fails of [
    () => expect(sandbox.queue).toHavePublished({ to: orders }, { times: 1 }),
    () => expect(sandbox.queue).toHaveDelivered({ to: orders }, { times: 1 }),
    () => expect(sandbox.queue).not.toHavePublished({ to: orders }),
  ]) {
    const text = failureOf(fails)
    expect(text).toContain('found 2')
    expect(text).toContain(`   ${one}   to ${orders}\n`)
    expect(text).toContain(`   ${other}   to ${orders}, deduplication ID "order 42"\n`)
  }
})

test('prints expected and received values for each ✗', async () => {
  using sandbox = createSandbox()
  const { clock, destinations, queue, store } = sandbox
  const ask = asker(sandbox)
  await ask([['set', 'k', 'v']])
  destinations.record(orders)
  queue.publish({ to: orders, body: { a: 1, list: [1, 2] }, headers: { 'x-a': 'b' } })
  await clock.drain()
  const texts = [
    failureOf(() => expect(queue).toHavePublished({ to: 'https://x.test/', body: { a: 2, list: [1] }, retries: 9 })),
    failureOf(() => expect(queue).toHaveDelivered({ to: 'https://x.test/', status: 201, headers: { 'x-a': 'c' } })),
    failureOf(() => expect(queue).toHaveDeadLetter({ to: orders })),
    failureOf(() => expect(store).toHaveExecuted('GET', 'key', 'v')),
    failureOf(() => expect(store).toHaveKey('k', { value: 'w', ttl: '1h', type: 'hash' })),
    failureOf(() => expect(sandbox).toHaveReceivedRequest({ method: 'PUT', url: 'https://y.test/' })),
    failureOf(() => expect(sandbox).toHaveCost({ messages: 3 })),
    failureOf(() => expect(queue).toHaveValidSignature({ key: 'next' })),
  ]
  for (const text of texts) {
    const misses = text.split(/\n| {3}(?=[✓✗])/).filter((item) => item.trimStart().startsWith('✗'))
    expect(misses.length).toBeGreaterThan(0)
    for (const miss of misses) expect(miss).toMatch(/expected.*received/)
  }
})

test('leaves lines for the timeline below a large pattern, a long diff and many steps', () => {
  using sandbox = createSandbox()
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`)
  sandbox.queue.publish({ to: orders, body: lines.join('\n') })
  const pattern = { to: orders, body: lines.map((line) => (line.endsWith('7') ? `${line}!` : line)).join('\n') }
  const many = { headers: Object.fromEntries(lines.map((line) => [line.replace(' ', '-'), line])) }
  for (const fails of [
    () => expect(sandbox.queue).toHavePublished(pattern),
    () => expect(sandbox.queue).toHavePublished(many),
    () => expect(sandbox).toFollowSequence(lines.map((line) => ({ type: 'published', body: line }) as const)),
  ]) {
    const text = failureOf(fails)
    expect(text.split('\n').length).toBeLessThanOrEqual(40)
    expect(above(text).length).toBeLessThanOrEqual(15)
    expect(text).toMatch(/\nReplay: [^\n]+\n\n\d{4}-/)
  }
})
