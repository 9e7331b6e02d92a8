import { connect, type RemoteSandbox } from 'stuntdouble/client'
import { vi } from 'vitest'

/** The world of a package at the server of `npm run services`, as new; until `vi.unstubAllEnvs()` the environment leads there. */
export async function tenantOf(name: string, server = 'http://127.0.0.1:4010'): Promise<RemoteSandbox> {
  const sandbox = await connect(server, { tenant: name })
  await sandbox.reset()
  for (const [variable, value] of Object.entries(sandbox.env)) vi.stubEnv(variable, value)
  return sandbox
}
