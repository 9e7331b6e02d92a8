import { hostPause } from '../../../src/kernel/host.js'

/**
 * Writes of at least this many bytes must use `inBulk()`. The kernel copies several megabytes of a large write at a
 * time, and blocks the event loop meanwhile.
 */
export const bulky = 262_144

/**
 * Large writes with a total of about this many bytes run in one iteration of the event loop. Each megabyte takes about
 * a millisecond.
 */
const perTurn = 16_777_216

const waiting: { readonly bytes: number; readonly run: () => void }[] = []
let isDue = false

/**
 * Queues a large write. In one iteration of the event loop, the queue writes only a limited number of bytes. Otherwise
 * a large value for hundreds of readers would block all other requests for seconds.
 */
export function inBulk(bytes: number, run: () => void): void {
  waiting.push({ bytes, run })
  if (!isDue) next()
}

function next(): void {
  isDue = true
  void hostPause().then(() => {
    isDue = false
    let count = 0
    for (let sum = 0; count < waiting.length && sum < perTurn; count++) sum += waiting[count]!.bytes
    const now = waiting.splice(0, count)
    if (waiting.length > 0) next()
    for (const { run } of now) run()
  })
}
