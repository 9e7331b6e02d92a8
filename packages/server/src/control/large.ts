import { hostPause } from '../../../../src/kernel/host.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { weightOf } from '../../../../src/kernel/weight.js'
import { HttpError } from '../../../../src/protocol/call.js'
import { engineOf, type Queue } from '../../../../src/queue/direct-queue.js'
import { weightOfMessage } from '../../../../src/queue/message/message.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { measure } from '../../../../src/store/keyspace/measure.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { heapLimit } from '../heap-watch.js'
import { bytesOf } from './entry-stream.js'

// Answers that hold a whole world: their size is estimated from what is kept, before anything of them is made.

/** Bytes of an answer that tells of one moment and is made in one go, while everybody else waits; less in a small heap. */
export const usualAtOnce = 67_108_864
export const roomAtOnce: number = Math.min(usualAtOnce, Math.floor(heapLimit() / 16))
/** Bytes of an answer that is made in slices, between which others are answered. */
export const inSlicesTimes = 2
export const maxInSlices: number = inSlicesTimes * roomAtOnce
/** Bytes of a slice, about. */
const slice = 1_048_576

/** What JSON takes beside the texts that are told: of a key, of an element, of an entry, with its headers or without. */
const around = { key: 48, element: 4, entry: 400, plainEntry: 100 }

/** @param instead what to ask for, as a sentence */
export function refuseLarge(bytes: number, most: number, what: string, instead: string): void {
  if (bytes <= most) return
  throw new HttpError(400, `${what} has about ${bytes} bytes; one answer has at most ${most} of them. ${instead}`)
}

/** Of entries as a trace has them, no body longer than `bodies`. */
export function sizeOfEntry(entry: Entry, bodies: number = Number.POSITIVE_INFINITY): number {
  // At most two bodies; words and replies of commands are cut, too.
  if (entry.type === 'command') {
    const size = weightOf(entry.argv) + weightOf(entry.reply)
    return around.plainEntry + Math.min(size, (entry.argv.length + 1) * (bodies + around.key))
  }
  if (entry.type === 'keyspace') return around.plainEntry + entry.key.length
  return around.entry + Math.min(bytesOf(entry), 2 * bodies)
}

export function sizeOfEntries(entries: readonly Entry[], bodies?: number): number {
  return entries.reduce((sum, entry) => sum + sizeOfEntry(entry, bodies), 0)
}

/** Of all keys and values; nothing for a store that is elsewhere. */
export function sizeOfStore({ store }: Pick<Sandbox, 'store'>): number {
  const { elsewhere, engine } = storeInternals.of(store)
  if (elsewhere !== undefined) return 0
  let size = 0
  engine.db.forEach((value, key) => {
    const { elements, bytes } = measure(value)
    size += around.key + key.length + bytes + around.element * elements
  })
  return size
}

/** Of the messages that it knows, those that are over included. */
export function sizeOfQueue(queue: Queue): number {
  let size = 0
  for (const message of engineOf(queue).courier.byId.values()) size += around.entry + weightOfMessage(message)
  return size
}

export function sizeOfState(sandbox: Sandbox): number {
  return sandbox.queues.reduce((sum, queue) => sum + sizeOfQueue(queue), sizeOfStore(sandbox))
}

/** What is told of each item, made so that others are answered in between. */
export async function inSlices<T, R>(
  items: readonly T[],
  size: (item: T) => number,
  told: (item: T) => R,
): Promise<R[]> {
  const all: R[] = []
  let left = slice
  for (const item of items) {
    left -= size(item)
    if (left < 0) {
      await hostPause()
      left = slice - size(item)
    }
    all.push(told(item))
  }
  return all
}
