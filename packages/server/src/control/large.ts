import { hostPause } from '../../../../src/kernel/host.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { weightOf } from '../../../../src/kernel/weight.js'
import { HttpError } from '../../../../src/protocol/call.js'
import type { Queue } from '../../../../src/queue/direct-queue.js'
import { weightOfMessage } from '../../../../src/queue/message/message.js'
import { engineOf } from '../../../../src/queue/queue-internals.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { measure } from '../../../../src/store/keyspace/measure.js'
import { storeInternals } from '../../../../src/store/store-internals.js'
import { heapLimit } from '../heap-watch.js'
import { bytesOf } from './entry-stream.js'

// Limits the size of responses that contain a whole sandbox. The size is estimated from the stored data before a
// response is created.

/**
 * Usual maximum bytes of a response that is created in one step. All other requests wait during this step. In a small
 * heap the maximum is lower.
 */
export const usualAtOnce = 67_108_864
export const roomAtOnce: number = Math.min(usualAtOnce, Math.floor(heapLimit() / 16))
/**
 * A response that is created in slices may be this many times larger than a response that is created in one step. Other
 * requests run between two slices.
 */
export const inSlicesTimes = 2
export const maxInSlices: number = inSlicesTimes * roomAtOnce
/** Approximate size of a slice, in bytes. */
const slice = 1_048_576

/**
 * Estimated bytes of JSON syntax around a value: for a key, an element, an entry with headers, and an entry without
 * headers.
 */
const around = { key: 48, element: 4, entry: 400, plainEntry: 100 }

/**
 * Rejects a request whose response would be too large.
 * @param instead end of the error message: what to request instead
 */
export function refuseLarge(bytes: number, most: number, what: string, instead: string): void {
  if (bytes <= most) return
  throw new HttpError(400, `${what} has about ${bytes} bytes, and one response has at most ${most}. ${instead}`)
}

/** Returns the estimated size of a trace entry with bodies of at most `bodies` bytes. */
export function sizeOfEntry(entry: Entry, bodies: number = Number.POSITIVE_INFINITY): number {
  // An entry has at most two bodies. `bodies` also limits each argument and reply of a command.
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

/** Returns the estimated size of all keys and values; 0 for a store that is a real Redis. */
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

/** Returns the estimated size of all known messages, including ended messages, and of all bulk actions. */
export function sizeOfQueue(queue: Queue): number {
  const { bulkActions, courier } = engineOf(queue)
  let { size } = bulkActions
  for (const message of courier.byId.values()) size += around.entry + weightOfMessage(message)
  return size
}

export function sizeOfState(sandbox: Sandbox): number {
  const stores = sandbox.stores.reduce((sum, store) => sum + sizeOfStore({ store }), 0)
  return sandbox.queues.reduce((sum, queue) => sum + sizeOfQueue(queue), stores)
}

/** Maps items in slices. Other requests run between two slices. */
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
