import { hostPause } from '../../../src/kernel/host.js'

/**
 * Minimum bytes of a write that must go through `inBulk()`. The kernel copies several megabytes of such a write at a
 * time.
 */
export const bulky = 262_144

/** Bytes of large writes after which the event loop runs other work first. Each megabyte takes about a millisecond. */
const perTurn = 16_777_216

const waiting: { readonly bytes: number; readonly run: () => void }[] = []
let isDue = false

/**
 * Runs a large write after the large writes that were queued before it. Only a limited number of bytes is written in
 * one iteration of the event loop. Otherwise a large value for hundreds of readers would block all other requests for
 * seconds.
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
