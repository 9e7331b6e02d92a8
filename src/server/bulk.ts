import { hostPause } from '../kernel/host.js'

/** Bytes from which a write is one: the kernel copies some megabytes of it at once. */
export const bulky = 262_144

/** Such writes in one turn of the event loop: each takes some milliseconds. */
const perTurn = 4

const waiting: (() => void)[] = []
let isDue = false

/** Runs a large write when it is its turn: a large value for hundreds of readers at once would stop everybody else for seconds. */
export function inBulk(run: () => void): void {
  waiting.push(run)
  if (!isDue) next()
}

function next(): void {
  isDue = true
  void hostPause().then(() => {
    isDue = false
    const now = waiting.splice(0, perTurn)
    if (waiting.length > 0) next()
    for (const run of now) run()
  })
}
