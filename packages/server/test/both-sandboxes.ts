import { connect, type RemoteSandbox } from '../../../src/client/connect.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.js'
import { type StuntdoubleServer, startServer } from '../src/server.js'

const world: SandboxOptions = { seed: 7, startAt: '2030-01-01T09:00:00Z' }
export const shop = 'https://shop.test/orders'

let server: StuntdoubleServer | undefined

/** A sandbox in the process and one behind a server. Tests that await every result run with both. */
export const kinds: readonly (readonly [
  string,
  (options?: Pick<SandboxOptions, 'databases'>) => Promise<Sandbox | RemoteSandbox>,
])[] = [
  ['in process', async (options) => createSandbox({ ...world, name: 'w1', ...options })],
  [
    'behind a server',
    async (options) => {
      server = await startServer({ port: 0, clock: 'manual', ...world, ...options })
      return connect(server.origin, { tenant: 'w1' })
    },
  ],
]

export async function ended(sandbox: Sandbox | RemoteSandbox): Promise<void> {
  await sandbox[Symbol.asyncDispose]()
  await server?.close()
  server = undefined
}

/** Sends a command as a client does. */
export async function asClient(sandbox: Sandbox | RemoteSandbox, ...command: string[]): Promise<Response> {
  const send = 'fetch' in sandbox ? sandbox.fetch : fetch
  return send(sandbox.urls.store, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
    body: JSON.stringify(command),
  })
}
