// A server in its own process that reports its memory: `node --expose-gc server.mjs`.
import { startServer } from '../../src/server.js'

const reports: string[] = []
const server = await startServer({
  port: 0,
  clock: 'manual',
  tokens: { store: 't', queue: 'q' },
  deliverTo: 'none',
  // Some of the requests return the complete traffic log.
  limits: { maxTrafficEntries: 1_000 },
  policy: { maxTrafficBytes: 2_000_000 },
  onError: (text) => reports.push(text),
})

process.on('message', async (question) => {
  if (question !== 'memory') return
  for (const name of server.tenants) server.drop(name)
  // One collection may make more objects collectable for the next one.
  for (let time = 0; time < 4; time++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  process.send?.({ heap: process.memoryUsage().heapUsed, reports: reports.splice(0) })
})
process.on('disconnect', () => process.exit(0))
process.send?.({ origin: server.origin })
