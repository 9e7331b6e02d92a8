import { expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { sha1Hex } from '../../src/kernel/digest.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'
import { sandboxInternals } from '../../src/sandbox/sandbox-internals.js'

/** Uses every random stream of the store, the queue and the faults, and every kind of input that a store records. */
async function use(sandbox: Sandbox): Promise<void> {
  const { urls, store, queue, faults, destinations, clock } = sandbox
  destinations.record('https://shop.test/*')
  faults.add({ on: 'store.request', chance: [1, 3], fault: { kind: 'latency', waitMs: 5 } })
  faults.add({ on: 'queue.delivery', times: 1, fault: { kind: 'status', status: 500 } })
  store.run('SADD', 's', ...Array.from({ length: 40 }, (_, index) => `m${index}`))
  store.run('SET', 'short', 1, 'PX', 20)
  store.run('SPOP', 's', 3)
  store.run('SRANDMEMBER', 's', -4)
  store.run('SCAN', 0, 'COUNT', 1)
  store.run('ACL', 'SETUSER', 'ann', 'on', '~*', '+@all')
  store.run('ACL', 'GENTOKEN', 'ann')
  store.run('ACL', 'GENPASS')
  const asked = store.connect().run('BLPOP', 'jobs', 1)
  const send = async (...argv: unknown[]): Promise<unknown> => {
    const request = { method: 'POST', headers: { authorization: `Bearer ${sandbox.tokens.store}` } }
    const response = sandbox.fetch(urls.store, { ...request, body: JSON.stringify(argv) })
    await clock.advance(10)
    return (await response).text()
  }
  for (let count = 0; count < 6; count++) await send('INCR', 'n')
  await send('RPUSH', 'jobs', 'a')
  await asked
  queue.publish({ to: 'https://shop.test/orders', body: 'x' })
  await clock.drain()
  store.get('short')
  store.resetPassword()
  await send('GET', 'n')
  queue.signingKeys.rotate()
  sandbox.queueIn('us-east-1').publish({ to: 'https://shop.test/more' })
  await clock.drain()
}

/** Hashes of the trace, the dump, the variables and the inputs, as they were before sandboxes had several databases. */
async function hashes(options: SandboxOptions): Promise<Readonly<Record<string, string>>> {
  using sandbox = createSandbox(options)
  await use(sandbox)
  const { inputs } = sandboxInternals.of(sandbox).journal()!
  const rows = Array.from({ length: inputs.length }, (_, index) => inputs.get(index))
  const state = { trace: sandbox.traffic.toTrace(), dump: sandbox.dump(), env: sandbox.env, inputs: rows }
  const plain = (_: string, value: unknown) => (typeof value === 'function' || value instanceof Error ? 'code' : value)
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [name, sha1Hex(utf8(JSON.stringify(value, plain)))]),
  )
}

test('a sandbox without databases writes the same trace, dump, variables and inputs as before', async () => {
  expect(await hashes({ seed: 7 })).toEqual({
    trace: 'a07b7acd2287881181b0670a9a97c8192b360e22',
    dump: '0710a68ee89c8257ab9ab8d8b5d7e1b44452e47e',
    env: 'f7dd97a110ea7593b7310ed170209f832d1d3000',
    inputs: 'd58838a34871c3e46a1d8f4c38bfad208515dd34',
  })
  expect(await hashes({ seed: 7, name: 'w1', secret: 'a secret of the server' })).toEqual({
    trace: 'f6f48ea8661d0df6a737b7973ac37bf5c15d63d9',
    dump: 'abd02539dbcedd0eb064cec696649eda6a25e1f5',
    env: 'acb0ff578e7f0ccc4411e4a418a1c7b821bfa41d',
    inputs: '1888b463389b3882011745682d6162e57864f54e',
  })
})
