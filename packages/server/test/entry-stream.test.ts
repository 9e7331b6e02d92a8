import { expect, onTestFinished, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../../src/index.js'
import { Account } from '../../../src/kernel/account.js'
import { hostPause } from '../../../src/kernel/host.js'
import { HeldChunks, readsInPlace } from '../../../src/protocol/event-stream.js'
import { entryStream } from '../src/control/entry-stream.js'

function sandboxOfTest(): Sandbox {
  const sandbox = createSandbox({ clock: 'manual' })
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

class EntryReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  /** Bytes of each chunk. */
  readonly sizes: number[] = []

  constructor(sandbox: Sandbox, after = 0, types?: readonly string[]) {
    const body = entryStream(sandbox, after, ({ type }) => types === undefined || types.includes(type))
    this.#reader = body.getReader()
    onTestFinished(() => this.#reader.cancel().catch(() => undefined))
  }

  /** Returns the data of the events of the next chunk. */
  async next(): Promise<{ seq?: number; type?: string; argv?: string[]; by?: string; count?: number }[]> {
    const { value, done } = await this.#reader.read()
    if (done) return []
    this.sizes.push(value.length)
    return [...new TextDecoder().decode(value).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
  }

  async upTo(seq: number): Promise<number[]> {
    const seqs: number[] = []
    while ((seqs.at(-1) ?? 0) < seq) seqs.push(...(await this.next()).map((entry) => entry.seq!))
    return seqs
  }
}

const commands = (sandbox: Sandbox, count: number, value = 'v'): void => {
  for (let at = 0; at < count; at++) sandbox.store.run('SET', `k${at}`, value)
}

test('entryStream() sends a long log in parts on demand, each entry once and in order', async () => {
  const sandbox = sandboxOfTest()
  commands(sandbox, 5_000)
  const latest = sandbox.traffic.entries.at(-1)!.seq
  const readers = [new EntryReader(sandbox), new EntryReader(sandbox)]
  for (const reader of readers) {
    expect(await reader.upTo(latest)).toEqual(sandbox.traffic.entries.map(({ seq }) => seq))
    expect(Math.max(...reader.sizes)).toBeLessThan(80_000)
    expect(reader.sizes.length).toBeGreaterThan(5)
  }
})

test('entryStream() holds no memory of a long log for readers that do not read', async () => {
  const sandbox = sandboxOfTest()
  commands(sandbox, 3_000)
  let looks = 0
  for (let count = 0; count < 100; count++) {
    const body = entryStream(sandbox, 0, () => {
      looks++
      return true
    })
    onTestFinished(() => body.cancel())
  }
  await hostPause()
  expect(looks).toBe(0)
})

test('entryStream() sends an entry once if it changes before it is read, and again if it changes later', async () => {
  const sandbox = sandboxOfTest()
  let answer = (_: Response): void => {}
  sandbox.destinations.on('https://a.test', () => new Promise((resolve) => (answer = resolve)))
  const reader = new EntryReader(sandbox, 0, ['attempt', 'published'])
  const publish = (): unknown => sandbox.queue.publish({ to: 'https://a.test', body: 'x' })
  publish()
  const first = sandbox.clock.drain()
  await expect.poll(() => sandbox.traffic.ofType('attempt').length).toBe(1)
  answer(new Response())
  await first
  expect((await reader.next()).map(({ type }) => type)).toEqual(['published', 'attempt'])

  publish()
  const second = sandbox.clock.drain()
  await expect.poll(() => sandbox.traffic.ofType('attempt').length).toBe(2)
  expect((await reader.next()).map(({ type }) => type)).toEqual(['published', 'attempt'])
  answer(new Response())
  await second
  publish()
  expect((await reader.next()).map(({ type }) => type)).toEqual(['attempt', 'published'])
})

test('entryStream() drops a reader that takes nothing, but not because of one turn of the event loop', async () => {
  const sandbox = sandboxOfTest()
  const megabyte = 'x'.repeat(1_000_000)
  const send = (): unknown =>
    sandbox.fetch(`${sandbox.urls.store}/set/k`, {
      method: 'POST',
      body: megabyte,
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
  const [deaf, keen] = [new EntryReader(sandbox, 0, ['request']), new EntryReader(sandbox, 0, ['request'])]
  for (let count = 0; count < 24; count++) {
    await send()
    expect((await keen.next()).length).toBeGreaterThan(0)
  }
  for (let count = 0; count < 4; count++) await hostPause()
  await expect(deaf.next()).rejects.toThrow('too slow')
})

test('entryStream() sends an event for each reset', async () => {
  const sandbox = sandboxOfTest()
  const reader = new EntryReader(sandbox, 0, ['command'])
  for (let count = 0; count < 6; count++) {
    sandbox.store.run('SET', 'k', String(count))
    sandbox.reset()
  }
  const got: string[] = []
  while (got.filter((word) => word === 'reset').length < 6)
    for (const { by, argv } of await reader.next()) got.push(by ?? argv!.at(-1)!)
  expect(got.filter((word) => word === 'reset')).toHaveLength(6)
  // Entries of old sandboxes are no longer sent.
  expect(got.slice(-5)).toEqual(['reset', '4', 'reset', '5', 'reset'])
})

test('entryStream() shares the array of a large entry among all readers, and counts it once', async () => {
  const sandbox = sandboxOfTest()
  const account = new Account(3_000_000)
  const held = new HeldChunks(account)
  const readers = Array.from({ length: 5 }, () => {
    const body = entryStream(sandbox, 0, ({ type }) => type === 'command')
    readsInPlace(body, held)
    return body.getReader()
  })
  onTestFinished(() => Promise.all(readers.map((reader) => reader.cancel())).then(() => undefined))
  sandbox.store.run('SET', 'k', 'x'.repeat(1_000_000))
  const chunks = await Promise.all(readers.map((reader) => reader.read()))
  const [first] = chunks
  expect(first!.value!.length).toBeGreaterThan(1_000_000)
  for (const { value } of chunks) expect(value).toBe(first!.value)
  expect(account.held).toBe(first!.value!.length)
})
