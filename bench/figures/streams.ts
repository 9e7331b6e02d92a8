// Cost of long streams and of many listeners.
import { createSandbox } from 'stuntdouble'
import type { Figure, Variant } from '../harness.ts'
import { type Argv, engineOf, type StoreEngine } from '../store.ts'

const argv = (...words: string[]): Argv => words as unknown as Argv

/** A stream of constant length: adding at its end removes at its beginning. */
function filled(length: number): StoreEngine {
  const engine = engineOf(createSandbox().store)
  for (let id = 1; id <= length; id++) engine.execute(argv('XADD', 's', `${id}-1`, 'field', `value ${id}`))
  return engine
}

function append(): Figure {
  const variant = (name: string, length: number): Variant => {
    const engine = filled(length)
    let id = length
    return {
      name,
      run(times) {
        for (let count = 0; count < times; count++) {
          id++
          engine.execute(argv('XADD', 's', 'MAXLEN', String(length), `${id}-1`, 'field', 'value'))
        }
      },
    }
  }
  return {
    name: 'XADD to a stream of 1M entries over one of 1k',
    baseline: variant('1k', 1000),
    variants: [variant('1M', 1_000_000)],
    atMost: { '1M': 2 },
  }
}

function range(): Figure {
  const variant = (name: string, length: number): Variant => {
    const engine = filled(length)
    let at = 0
    return {
      name,
      run(times) {
        for (let count = 0; count < times; count++) {
          at = (at + 7919) % length
          engine.execute(argv('XRANGE', 's', `${at}-0`, '+', 'COUNT', '1'))
        }
      },
    }
  }
  return {
    name: 'XRANGE of one entry anywhere in a stream of 1M entries over one of 1k',
    baseline: variant('1k', 1000),
    variants: [variant('1M', 1_000_000)],
    // Ten more steps of a binary search outside the cache; a linear search would take 500 times as long.
    atMost: { '1M': 10 },
  }
}

/** Event streams that are read as fast as they are written. */
function streams(count: number): ReadableStreamDefaultController<Uint8Array>[] {
  return Array.from({ length: count }, () => {
    let writer: ReadableStreamDefaultController<Uint8Array> | undefined
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        writer = controller
      },
    })
    void drain(stream)
    return writer!
  })
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader()
  while (!(await reader.read()).done);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function publish(): Promise<Figure> {
  const writers = streams(1000)
  const encoder = new TextEncoder()
  const sandbox = createSandbox()
  const engine = engineOf(sandbox.store)
  for (let count = 0; count < 1000; count++) {
    const response = await sandbox.fetch(`${sandbox.urls.store}/subscribe/news`, {
      headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    })
    void drain(response.body!)
  }
  await turn()
  return {
    name: 'PUBLISH to 1,000 subscribers over a bare loop over 1,000 streams',
    baseline: {
      name: 'bare loop',
      async run(times) {
        for (let count = 0; count < times; count++) {
          const line = `data: message,news,payload ${count}\n\n`
          for (const writer of writers) writer.enqueue(encoder.encode(line))
          await turn()
        }
      },
    },
    variants: [
      {
        name: 'PUBLISH',
        async run(times) {
          for (let count = 0; count < times; count++) {
            engine.execute(argv('PUBLISH', 'news', `payload ${count}`))
            await turn()
          }
        },
      },
    ],
    atMost: { PUBLISH: 2 },
    dispose: () => sandbox.dispose(),
  }
}

export const figures: readonly (() => Figure | Promise<Figure>)[] = [append, range, publish]
