import { dataFrame } from '../http/event-stream.js'
import { type Bytes, toArray, utf8 } from '../kernel/bytes.js'
import type { Entry } from '../kernel/traffic.js'
import type { Sandbox } from '../sandbox.js'
import { writerOf } from './wire-entry.js'

/** Entries that may wait for a slow reader before it is dropped. */
export const mostWaiting = 100_000

/** Silence after which a comment keeps the connection open, in host milliseconds. */
const keepAlive = 15_000

/**
 * Entries as server-sent events, the ones that are there and the ones that come. They are written when the reader
 * takes them: one that waits and changes meanwhile is sent once, as it is then, and a slow reader costs no copies.
 */
export function entryStream(
  sandbox: Sandbox,
  first: Iterable<Entry>,
  wanted: (entry: Entry) => boolean,
): ReadableStream<Uint8Array> {
  const waiting = new Set<Entry>()
  for (const entry of first) if (wanted(entry)) waiting.add(entry)
  let wake: (() => void) | undefined
  let end = (): void => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const add = (entry: Entry): void => {
          if (!wanted(entry)) return
          waiting.add(entry)
          if (waiting.size > mostWaiting) {
            end()
            controller.error(new Error('The reader of this stream was too slow and was dropped.'))
          } else wake?.()
        }
        const unsubscribe = sandbox.traffic.subscribe(add)
        const forget = sandbox.onDispose(() => {
          end()
          controller.close()
        })
        const timer = setInterval(() => {
          if (wake !== undefined) controller.enqueue(toArray(': \n\n' as Bytes))
        }, keepAlive)
        timer.unref()
        end = () => {
          clearInterval(timer)
          unsubscribe()
          forget()
          wake?.()
        }
      },
      async pull(controller) {
        if (waiting.size === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          wake = undefined
        }
        const [entry] = waiting
        if (entry === undefined) return
        waiting.delete(entry)
        controller.enqueue(dataFrame(utf8(JSON.stringify(writerOf(sandbox).entry(entry)))))
      },
      cancel() {
        end()
      },
    },
    { highWaterMark: 1 },
  )
}
