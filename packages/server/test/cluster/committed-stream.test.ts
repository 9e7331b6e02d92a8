import { expect, test } from 'vitest'
import { committedStream } from '../../src/cluster/committed-stream.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Returns a stream, and an owner whose commits a test resolves one by one. */
function owned() {
  const waiting: ((error?: Error) => void)[] = []
  const lost = new AbortController()
  let cancelled = false
  const own = {
    signal: lost.signal,
    commit: () =>
      new Promise<void>((resolve, reject) =>
        waiting.push((error) => (error === undefined ? resolve() : reject(error))),
      ),
  }
  let source!: ReadableStreamDefaultController<Uint8Array>
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      source = controller
    },
    cancel: () => {
      cancelled = true
    },
  })
  const reader = committedStream(body, own).getReader()
  return { source, waiting, lost, reader, isCancelled: () => cancelled }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('committedStream() sends a part only after its effects are saved', async () => {
  const { source, waiting, reader } = owned()
  source.enqueue(bytes('one'))
  let heard: string | undefined
  const reading = reader.read().then(({ value }) => {
    heard = new TextDecoder().decode(value)
  })
  await turns()
  expect(heard).toBeUndefined()
  expect(waiting).toHaveLength(1)
  waiting.shift()!()
  await reading
  expect(heard).toBe('one')
  source.close()
  expect((await reader.read()).done).toBe(true)
})

test('committedStream() breaks when the tenant is lost, and drops the pending part', async () => {
  const { source, waiting, lost, reader, isCancelled } = owned()
  source.enqueue(bytes('one'))
  const reading = reader.read()
  await turns()
  lost.abort(new Error('another node has it'))
  waiting.shift()!()
  await expect(reading).rejects.toThrow('another node has it')
  await turns()
  expect(isCancelled()).toBe(true)
})

test('committedStream() breaks when a commit fails', async () => {
  const { source, waiting, reader, isCancelled } = owned()
  source.enqueue(bytes('one'))
  const reading = reader.read()
  await turns()
  waiting.shift()!(new Error('the engine is away'))
  await expect(reading).rejects.toThrow('the engine is away')
  await turns()
  expect(isCancelled()).toBe(true)
})

test('committedStream() cancels its source when its reader cancels', async () => {
  const { reader, isCancelled } = owned()
  await reader.cancel()
  await turns()
  expect(isCancelled()).toBe(true)
})
