// A server in a process of its own that tells how much memory it holds: `node --expose-gc server.mjs`.
import { startServer } from '../../src/server.js'

const reports: string[] = []
const server = await startServer({
  port: 0,
  clock: 'manual',
  tokens: { store: 't', queue: 'q' },
  deliverTo: 'none',
  // Orders that tell the whole traffic are among the requests.
  limits: { maxTrafficEntries: 1_000 },
  policy: { maxTrafficBytes: 2_000_000 },
  onError: (text) => reports.push(text),
})

process.on('message', async (question) => {
  if (question !== 'memory') return
  for (const name of server.tenants) server.drop(name)
  // What was freed by one collection lets the next one free more.
  for (let time = 0; time < 4; time++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  process.send?.({ heap: process.memoryUsage().heapUsed, reports: reports.splice(0) })
})
process.on('disconnect', () => process.exit(0))
process.send?.({ origin: server.origin })
