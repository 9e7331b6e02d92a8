// The cases of receipt.test.ts with `next build`, `next start` and `stuntdouble serve`.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { build, freePort, needs, startApp, startServices } from '../programs.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const next = fileURLToPath(new URL('../../../node_modules/next/dist/bin/next', import.meta.url))
needs({ [next]: 'Next.js is not installed: npm ci.' })

await using services = await startServices()
const origin = `http://127.0.0.1:${await freePort()}`
const env = { ...services.env, APP_URL: origin, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' }
build([next, 'build'], here, env)
await using _app = await startApp([next, 'start', '-H', '127.0.0.1', '-p', new URL(origin).port], here, env, origin)

const { attempts, control } = services
const post = (path: string, body: object): Promise<Response> =>
  fetch(origin + path, { method: 'POST', body: JSON.stringify(body) })
const receiptOf = async (id: number): Promise<unknown> => await control('POST', 'store/get', { key: `receipt:${id}` })
const statuses = async (): Promise<number[]> => (await attempts()).map(({ status }) => status)

// The app writes the receipt of an order in the background.
assert.equal((await post('/api/orders', { id: 42, cents: 1990 })).status, 202)
assert.deepEqual(await receiptOf(42), { value: null })
await control('POST', 'clock/drain')
assert.deepEqual(await statuses(), [200])
assert.deepEqual(await receiptOf(42), { value: '19.90 EUR' })

// The app rejects an unsigned request.
assert.equal((await post('/api/receipt', { id: 43, cents: 1 })).status, 403)
assert.deepEqual(await receiptOf(43), { value: null })

// The app rejects a changed body and accepts the next attempt.
await control('POST', 'reset')
const fault = { kind: 'bad-signature', flaw: 'body' }
await control('POST', 'faults', { rules: { on: 'queue.delivery', times: 1, fault } })
await post('/api/orders', { id: 42, cents: 1990 })
await control('POST', 'clock/drain')
assert.deepEqual(await statuses(), [500, 200])

console.log('Next.js, built and started, behaves like in the test.')
