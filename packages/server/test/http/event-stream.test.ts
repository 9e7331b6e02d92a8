import { expect, test } from 'vitest'
import { Account } from '../../../../src/kernel/account.js'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { hostPause } from '../../../../src/kernel/host.js'
import { eventStream, HeldChunks, ReaderTooSlow, readsInPlace } from '../../../../src/protocol/event-stream.js'

const decoder = new TextDecoder()

function opened(options: { bufferLimit?: number; signal?: AbortSignal } = {}) {
  const ends: string[] = []
  const stream = eventStream({ ...options, onEnd: (reason) => ends.push(reason) })
  return { stream, ends, reader: stream.body.getReader() }
}

const next = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> => {
  const { done, value } = await reader.read()
  return done ? undefined : decoder.decode(value)
}

test('eventStream() sends events and comments in order, each with a blank line, until close()', async () => {
  const { stream, ends, reader } = opened()
  stream.send(latin1('"OK"'))
  stream.comment('keep-alive')
  stream.send(latin1('message,a,1'))
  stream.close()
  expect([await next(reader), await next(reader), await next(reader), await next(reader)]).toEqual([
    'data: "OK"\n\n',
    ': keep-alive\n\n',
    'data: message,a,1\n\n',
    undefined,
  ])
  expect(ends).toEqual(['closed'])
})

test('eventStream() begins a new data line at every kind of line end', async () => {
  const { stream, reader } = opened()
  stream.send(latin1('a\nb\r\nc\rd'))
  expect(await next(reader)).toBe('data: a\ndata: b\ndata: c\ndata: d\n\n')
})

test('eventStream() sends bytes unchanged', async () => {
  const { stream, reader } = opened()
  stream.send(latin1('\xc3\xa9\xff'))
  const { value } = await reader.read()
  expect([...value!.subarray(6, 9)]).toEqual([0xc3, 0xa9, 0xff])
})

test('eventStream() ends once when its reader cancels, and drops later events', async () => {
  const { stream, ends, reader } = opened()
  await reader.cancel()
  stream.send(latin1('a'))
  stream.close()
  expect(ends).toEqual(['aborted'])
})

test('eventStream() ends with an AbortError when its client aborts', async () => {
  const client = new AbortController()
  const { stream, ends, reader } = opened({ signal: client.signal })
  const read = reader.read()
  client.abort()
  await expect(read).rejects.toMatchObject({ name: 'AbortError' })
  stream.send(latin1('a'))
  expect(ends).toEqual(['aborted'])
})

test('eventStream() ends immediately for a client that aborted before', async () => {
  const { ends, reader } = opened({ signal: AbortSignal.abort() })
  await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' })
  expect(ends).toEqual(['aborted'])
})

test('eventStream() drops a reader that is too far behind', async () => {
  const { stream, ends, reader } = opened({ bufferLimit: 64 })
  for (let count = 0; count < 100 && ends.length === 0; count++) {
    stream.send(latin1('0123456789'))
    await hostPause()
  }
  expect(ends).toEqual(['overflow'])
  await expect(reader.read()).rejects.toThrow(/reader.*too slow.*disconnected/)
})

test('eventStream() may send far more than the limit to a reader that keeps up', async () => {
  const { stream, ends, reader } = opened({ bufferLimit: 64 })
  for (let count = 0; count < 100; count++) {
    stream.send(latin1('0123456789'))
    expect(await next(reader)).toBe('data: 0123456789\n\n')
  }
  expect(ends).toEqual([])
})

test('eventStream() sends the events of one turn to a reader without pending data, and drops it before more is added', async () => {
  const { stream, ends, reader } = opened({ bufferLimit: 64 })
  for (let count = 0; count < 10; count++) stream.send(latin1('x'.repeat(1_000)))
  expect(ends).toEqual([])
  await hostPause()
  stream.send(latin1('0123456789'))
  expect(ends).toEqual(['overflow'])
  await expect(reader.read()).rejects.toThrow(ReaderTooSlow)
})

test('eventStream() sends no event that is larger than redis-server allows', () => {
  const { stream, ends } = opened()
  for (let count = 0; count < 32; count++) stream.sendFrame(new Uint8Array(1_000_000))
  expect(ends).toEqual([])
  stream.sendFrame(new Uint8Array(33_554_433))
  expect(ends).toEqual(['overflow'])
})

test('eventStream() copies chunks, except for readers that only read, which share them', async () => {
  const account = new Account(1_000)
  const held = new HeldChunks(account)
  const frame = new Uint8Array(600)
  const copied = opened()
  const [one, another] = [opened(), opened()]
  for (const { stream } of [one, another]) readsInPlace(stream.body, held)
  for (const { stream } of [one, another, copied]) stream.sendFrame(frame)
  expect(account.held).toBe(600)
  const { value } = await copied.reader.read()
  expect(value).toEqual(frame)
  expect(value).not.toBe(frame)
  expect((await one.reader.read()).value).toBe(frame)
  held.letGo(frame)
  expect(account.held).toBe(600)
  await another.reader.cancel()
  expect(account.held).toBe(0)
})

test('eventStream() drops a reader if the shared memory limit is reached, except for a short event of an up-to-date reader', async () => {
  const held = new HeldChunks(new Account(100))
  const { stream, ends } = opened()
  readsInPlace(stream.body, held)
  stream.sendFrame(new Uint8Array(200))
  expect(ends).toEqual([])
  stream.sendFrame(new Uint8Array(200))
  expect(ends).toEqual(['overflow'])
})

test('eventStream() delivers what was sent before close()', async () => {
  const { stream, reader } = opened()
  for (const word of ['a', 'b']) stream.send(latin1(word))
  stream.close()
  stream.send(latin1('c'))
  expect([await next(reader), await next(reader), await next(reader)]).toEqual([
    'data: a\n\n',
    'data: b\n\n',
    undefined,
  ])
})
