import { type Bytes, toArray, utf8 } from '../../kernel/bytes.js'
import type { Entry } from '../../kernel/traffic.js'
import { dataFrame, ReaderTooSlow } from '../../protocol/event-stream.js'
import type { Sandbox } from '../../sandbox/sandbox.js'
import { writerOf } from './wire-entry.js'

/** Entries that may wait for a slow reader before it is dropped. */
export const mostWaiting = 100_000

/** Silence after which a comment keeps the connection open, in host milliseconds. */
const keepAlive = 15_000

/** Which entries a reader wants; of a world that was made anew, whose numbering begins anew, too. */
export type Wanted = (entry: Entry, isRenewed: boolean) => boolean

/**
 * Entries as server-sent events, the ones that are there and the ones that come. They are written when the reader
 * takes them: one that waits and changes meanwhile is sent once, as it is then, and a slow reader costs no copies.
 */
export function entryStream(sandbox: Sandbox, first: Iterable<Entry>, wanted: Wanted): ReadableStream<Uint8Array> {
  const waiting = new Set<Entry | Renewal>()
  for (const entry of first) if (wanted(entry, false)) waiting.add(entry)
  let isRenewed = false
  let wake: (() => void) | undefined
  let end = (): void => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const add = (what: Entry | Renewal): void => {
          if ('type' in what && !wanted(what, isRenewed)) return
          waiting.add(what)
          if (waiting.size > mostWaiting) {
            end()
            controller.error(new ReaderTooSlow('The reader of this stream was too slow and was dropped.'))
          } else wake?.()
        }
        let unsubscribe = sandbox.traffic.subscribe(add)
        const stay = sandbox.onRenewal((by) => {
          unsubscribe()
          unsubscribe = sandbox.traffic.subscribe(add)
          isRenewed = true
          add({ by })
          // What a world was filled with is in its log before it takes the place of the one before.
          for (const entry of sandbox.traffic.entries) add(entry)
        })
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
          stay()
          forget()
          waiting.clear()
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
        const [what] = waiting
        if (what === undefined) return
        waiting.delete(what)
        const plain = 'type' in what ? writerOf(sandbox).entry(what) : what
        const frame = dataFrame(utf8(JSON.stringify(plain)))
        if (!('type' in what)) controller.enqueue(toArray('event: renewed\n' as Bytes))
        controller.enqueue(frame)
      },
      cancel() {
        end()
      },
    },
    { highWaterMark: 1 },
  )
}

/** Another world has taken the place of the one before. */
interface Renewal {
  readonly by: 'reset' | 'load'
}
