// Runs a server in its own process and reports how long its event loop was blocked: `node --expose-gc attack.mjs`.
import { startServer } from '../../src/server.js'

const reports: string[] = []
const server = await startServer({
  port: 0,
  redisPort: 0,
  clock: process.argv[2] === 'real' ? 'real' : 'manual',
  tokens: { store: 't', queue: 'q' },
  deliverTo: 'none',
  policy: { commands: 'all', maxTrafficBytes: 20_000_000 },
  onError: (text) => reports.push(text),
})

/** Processor time of this thread in milliseconds, which excludes other processes of the machine. */
const used = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Does integer work of about ten milliseconds on two idle cores of 2026. Blocks are reported in its multiples. */
function calibrationLoop(): number {
  let word = 1
  for (let turn = 0; turn < 6_000_000; turn++) word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0
  return word
}

function calibrated(): number {
  calibrationLoop()
  const times = Array.from({ length: 5 }, () => {
    const before = used()
    calibrationLoop()
    return used() - before
  })
  return Math.min(...times)
}

let beating: ReturnType<typeof setInterval> | undefined
let longest = 0

function watch(): void {
  longest = 0
  let last = used()
  beating = setInterval(() => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
  }, 1)
}

process.on('message', async (question) => {
  if (question === 'watch') {
    watch()
    process.send?.({})
  } else if (question === 'block') {
    // One beat more: the last block may not have been seen yet.
    await new Promise((resolve) => setTimeout(resolve, 10))
    clearInterval(beating)
    process.send?.({ milliseconds: longest, loops: longest / calibrated(), reports: reports.splice(0) })
  } else if (question === 'memory') {
    for (const name of server.tenants) server.drop(name)
    for (let time = 0; time < 4; time++) {
      globalThis.gc?.()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { heapUsed, external, arrayBuffers } = process.memoryUsage()
    process.send?.({ bytes: heapUsed + external + arrayBuffers })
  }
})
process.on('message', async (question) => {
  if (question !== 'end') return
  await server.close()
  process.exit(0)
})
process.on('disconnect', () => process.exit(0))
process.send?.({ origin: server.origin, redisPort: server.redisPort })
