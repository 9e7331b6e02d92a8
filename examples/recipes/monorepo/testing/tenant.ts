import { connect, type RemoteSandbox } from 'stuntdouble/client'
import { vi } from 'vitest'

/** Resets the tenant of a package on the server of `npm run services`. The environment points to it until `vi.unstubAllEnvs()`. */
export async function tenantOf(name: string, server = 'http://127.0.0.1:4010'): Promise<RemoteSandbox> {
  const sandbox = await connect(server, { tenant: name })
  await sandbox.reset()
  for (const [variable, value] of Object.entries(sandbox.env)) vi.stubEnv(variable, value)
  return sandbox
}
