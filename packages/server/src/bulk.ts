import { hostPause } from '../../../src/kernel/host.js'

/** Bytes from which a write takes turns: the kernel copies several megabytes of it at a time. */
export const bulky = 262_144

/** Bytes of such writes in one turn of the event loop. Each megabyte takes about a millisecond. */
const perTurn = 16_777_216

const waiting: { readonly bytes: number; readonly run: () => void }[] = []
let isDue = false

/**
 * Runs a large write when it is its turn. A large value for hundreds of readers would otherwise block all other
 * requests for seconds.
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
