import { type Bytes, toArray, utf8 } from '../../kernel/bytes.js'
import type { Entry } from '../../kernel/traffic.js'
import { dataFrame, ReaderTooSlow } from '../../protocol/event-stream.js'
import type { Sandbox } from '../../sandbox/sandbox.js'
import { writerOf } from './wire-entry.js'

/** Entries that may wait for a slow reader before it is dropped. */
export const mostWaiting = 100_000

/** Bytes of entries that came since and may wait: the log may have dropped them in the meantime. */
export const mostBytesWaiting = 16_777_216

/** Silence after which a comment keeps the connection open, in host milliseconds. */
const keepAlive = 15_000

/** Which entries a reader wants; of a world that was made anew, whose numbering begins anew, too. */
export type Wanted = (entry: Entry, isRenewed: boolean) => boolean

/**
 * Entries as server-sent events, the ones that are there and the ones that come. They are written when the reader
 * takes them: one that waits and changes meanwhile is sent once, as it is then, and a slow reader costs no copies.
 */
export function entryStream(sandbox: Sandbox, first: Iterable<Entry>, wanted: Wanted): ReadableStream<Uint8Array> {
  /** With the bytes that they add to what is kept: those of the log are there anyway. */
  const waiting = new Map<Entry | Renewal, number>()
  let bytes = 0
  for (const entry of first) if (wanted(entry, false)) waiting.set(entry, 0)
  let isRenewed = false
  let wake: (() => void) | undefined
  let end = (): void => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const add = (what: Entry | Renewal): void => {
          if ('type' in what && !wanted(what, isRenewed)) return
          const weight = 'type' in what ? bytesOf(what) : 0
          bytes += weight - (waiting.get(what) ?? 0)
          waiting.set(what, weight)
          if (waiting.size > mostWaiting || (waiting.size > 1 && bytes > mostBytesWaiting)) {
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
        const [what] = waiting.keys()
        if (what === undefined) return
        bytes -= waiting.get(what)!
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

/** Bytes of the bodies of an entry. */
export function bytesOf(entry: Entry): number {
  if (entry.type === 'attempt') return entry.body.length + (entry.outcome?.body.length ?? 0)
  const own = 'body' in entry ? entry.body.length : 0
  return own + (entry.type === 'request' || entry.type === 'call' ? (entry.answer?.body?.length ?? 0) : 0)
}
