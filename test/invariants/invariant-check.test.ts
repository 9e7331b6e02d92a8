import { createSandbox, InvariantError, invariants, type Sandbox } from 'stuntdouble'
import { expect, test } from 'vitest'

async function ordinaryRun(sandbox: Sandbox): Promise<void> {
  const { queue, clock, destinations, store } = sandbox
  destinations.on('https://shop.test/fails', () => new Response('no', { status: 500 }))
  destinations.on('https://shop.test/*', () => new Response('fine'))
  queue.upsertQueue('line', { parallelism: 2, paused: false })
  for (let at = 0; at < 5; at++) {
    queue.publish({ to: 'https://shop.test/a', body: { at }, queue: 'line' })
    queue.publish({
      to: 'https://shop.test/fails',
      retries: 2,
      callback: 'https://shop.test/c',
      failureCallback: 'https://shop.test/f',
    })
    queue.publish({
      to: 'https://shop.test/b',
      flowControlKey: 'k',
      flowControlValue: 'rate=2,period=10s,parallelism=1',
    })
    queue.publish({ to: 'https://shop.test/b', deduplicationId: 'once' })
  }
  store.run('SET', 'a', '1', 'EX', 60)
  store.run('INCR', 'a')
  await clock.drain()
  store.run('GET', 'a')
}

/** Removes an entry from the log, as if the engine had not done what the entry describes. */
function forget({ traffic }: Sandbox, type: string): void {
  const entries = traffic.entries as unknown[]
  entries.splice(
    entries.findIndex((entry) => (entry as { type: string }).type === type),
    1,
    { ...traffic.entries.find((entry) => entry.type === type), type: 'keyspace', event: 'set', key: 'nothing' },
  )
}

test('checkInvariants() finds no violation in an ordinary run', async () => {
  using sandbox = createSandbox({ seed: 7 })
  await ordinaryRun(sandbox)
  const check = sandbox.assertInvariants()
  expect(check.checked).toEqual(invariants.map(({ name }) => name))
  expect(check.unknown).toEqual([])
})

test('checkInvariants() selects invariants with only and except, and suggests the nearest name for a typo', async () => {
  using sandbox = createSandbox()
  expect(sandbox.assertInvariants({ only: 'rate-bound' }).checked).toEqual(['rate-bound'])
  expect(sandbox.assertInvariants({ except: ['rate-bound', 'fifo-per-queue'] }).checked).toHaveLength(
    invariants.length - 2,
  )
  expect(() => sandbox.assertInvariants({ only: 'rate-bond' })).toThrow(/no invariant "rate-bond".*mean "rate-bound"/)
})

test('assertInvariants() reports a violation with its guarantee, what happened, the entries and the timeline', async () => {
  using sandbox = createSandbox({ seed: 7 })
  await ordinaryRun(sandbox)
  forget(sandbox, 'dead-letter')
  const [breach] = sandbox.checkInvariants().violations
  expect(breach).toMatchObject({ invariant: 'no-lost-message', message: expect.stringContaining('failed permanently') })
  expect(breach!.entries.map(({ type }) => type)).toEqual(['published', 'attempt'])
  let error: unknown
  try {
    sandbox.assertInvariants()
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(InvariantError)
  expect((error as InvariantError).violations[0]).toEqual(breach)
  expect((error as Error).message).toMatch(
    /^Violated invariant no-lost-message: .*\n.*msg_\w+ failed permanently.*not in the dead-letter queue\.\n2030-01-01\n.*published.*attempt 3 of 3.*Replay: seed 7$/s,
  )
})

test('checkInvariants() proves nothing from an empty log', async () => {
  using sandbox = createSandbox({ policy: { maxTrafficEntries: 0 } })
  await ordinaryRun(sandbox)
  expect(sandbox.assertInvariants().unknown.length).toBeGreaterThan(0)
})

test('checkInvariants() reads each entry a bounded number of times', async () => {
  const looks: number[] = []
  for (const size of [200, 2000]) {
    using sandbox = createSandbox()
    sandbox.destinations.respond('https://shop.test/', 200)
    for (let n = 0; n < size; n++) {
      sandbox.queue.publish({
        to: 'https://shop.test/',
        queue: `q${n % 3}`,
        flowControlKey: 'k',
        flowControlValue: 'parallelism=3,rate=100',
        deduplicationId: String(n % (size / 2)),
      })
      sandbox.store.run('INCR', `key${n % 10}`)
    }
    await sandbox.clock.drain()
    let count = 0
    const entries = new Proxy(sandbox.traffic.entries, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) count++
        return Reflect.get(target, name)
      },
    })
    Object.defineProperty(sandbox.traffic, 'entries', { value: entries })
    sandbox.assertInvariants()
    looks.push(count / entries.length)
  }
  expect(looks[1]).toBeLessThan(looks[0]! * 1.5)
})

test('no-attempt-left-running is violated by an attempt without an end, but only in a drained sandbox', () => {
  const { sandbox, published } = leftRunning()
  expect(sandbox.checkInvariants({ only: 'no-attempt-left-running' }).violations).toMatchObject([
    { message: expect.stringMatching(`^attempt 1 of ${published.messageId} is still running`) },
  ])
  sandbox.queue.publish({ to: 'https://shop.test/other' })
  expect(sandbox.checkInvariants({ only: 'no-attempt-left-running' }).violations).toEqual([])
})

/** Returns a log as if the engine had forgotten an attempt. */
function leftRunning() {
  const sandbox = createSandbox()
  const message = { messageId: 'msg_1', kind: 'message', url: 'https://shop.test/', method: 'POST' } as const
  const rest = { headers: [], body: '' as never, maxRetries: 3, notBefore: sandbox.clock.now(), deduplicated: false }
  const published = sandbox.queue.traffic.append({ type: 'published', ...message, ...rest })
  const attempt = {
    type: 'attempt',
    ...message,
    headers: [],
    body: '' as never,
    retried: 0,
    maxRetries: 3,
    reason: 'x',
  } as const
  sandbox.queue.traffic.append(attempt as never, published.seq)
  return { sandbox, published }
}
