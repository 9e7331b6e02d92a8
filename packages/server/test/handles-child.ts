// Starts a server, uses every feature that opens a handle, and stops it. The process must then end without
// process.exit().
import { join } from 'node:path'
import { connect } from '../../../src/client/connect.js'
import { startServer } from '../src/server.js'

const before = process.getActiveResourcesInfo()
for (let time = 0; time < 3; time++) {
  const server = await startServer({
    port: 0,
    clock: time === 1 ? 'real' : 'manual',
    // The saved tenant of 2030 is ahead of the host's time.
    state: join(process.argv[2]!, 'state.json'),
    rebaseTime: true,
    scenario: { name: 'slow', faults: [{ on: 'store.request', fault: { kind: 'latency', waitMs: 1 } }] },
  })
  const { urls, tokens, queue, faults } = server.tenant('main')
  faults.clear()
  const headers = { authorization: `Bearer ${tokens.store}` }
  await (await fetch(`${urls.store}/set/k/v`, { headers })).text()
  const subscription = await fetch(`${urls.store}/subscribe/news`, { method: 'POST', headers })
  const traffic = await fetch(`${server.origin}/_control/main/traffic/stream`)
  const poll = fetch(`${server.origin}/_control/main/traffic?after=999&wait=60s`).catch(() => undefined)
  queue.publish({ to: 'http://127.0.0.1:9/', delay: '1h' })
  const sandbox = await connect(server.origin)
  await sandbox.snapshot()
  await server.close()
  await subscription.body?.cancel().catch(() => undefined)
  await traffic.body?.cancel().catch(() => undefined)
  await poll
}
// The sockets that this client keeps alive close one or two turns after the server.
await new Promise((resolve) => setTimeout(resolve, 50))
const left = process.getActiveResourcesInfo()
console.log(JSON.stringify({ before, left }))
