// The cases of welcome.test.ts with `vite build`, `vite preview` and `stuntdouble serve`.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { build, freePort, needs, startApp, startServices } from '../programs.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const vite = fileURLToPath(new URL('../../../node_modules/vite/bin/vite.js', import.meta.url))
const kit = fileURLToPath(new URL('../../../node_modules/@sveltejs/kit', import.meta.url))
needs({ [vite]: 'Vite is not installed: npm ci.', [kit]: 'SvelteKit is not installed: npm ci.' })

await using services = await startServices()
const origin = `http://127.0.0.1:${await freePort()}`
const env = { ...services.env, APP_URL: origin, NODE_ENV: 'production' }
build([vite, 'build'], here, env)
const preview = [vite, 'preview', '--host', '127.0.0.1', '--strictPort', '--port', new URL(origin).port]
await using _app = await startApp(preview, here, env, origin)

const { attempts, control } = services
const post = (path: string, body: object): Promise<Response> =>
  fetch(origin + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
const welcomed = (): Promise<unknown> => control('POST', 'store/run', { command: ['SMEMBERS', 'welcomed'] })
const join = (): Promise<Response> => post('/api/signups', { email: 'ada@club.test' })

// The app welcomes a new user once in the background, although its response is lost.
await control('POST', 'faults', { rules: { on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } } })
assert.equal((await join()).status, 202)
assert.deepEqual(await welcomed(), { reply: [] })
await control('POST', 'clock/drain')
assert.deepEqual(await attempts(), [
  { status: 0, body: '' },
  { status: 200, body: 'welcomed before' },
])
assert.deepEqual(await welcomed(), { reply: ['ada@club.test'] })

// The app rejects an unsigned request.
assert.equal((await post('/api/welcome', { email: 'eve@club.test' })).status, 403)
assert.deepEqual(await welcomed(), { reply: ['ada@club.test'] })

// The app rejects a changed body and accepts the next attempt.
await control('POST', 'reset')
const fault = { kind: 'bad-signature', flaw: 'body' }
await control('POST', 'faults', { rules: { on: 'queue.delivery', times: 1, fault } })
await join()
await control('POST', 'clock/drain')
assert.deepEqual(
  (await attempts()).map(({ status }) => status),
  [500, 200],
)

console.log('SvelteKit, built and started, behaves like in the test.')
