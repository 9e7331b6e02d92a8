import type { Sandbox } from './sandbox.js'

/** Addresses, tokens and keys under the names that the SDKs read from the environment. */
export function environmentOf({ vocabulary, queue, addresses, tokens }: Sandbox): Record<string, string> {
  const { environment } = vocabulary
  const { current, next } = queue.keys
  const env: Record<string, string> = {}
  for (const name of environment.storeUrl) env[name] = addresses.store
  for (const name of environment.storeToken) env[name] = tokens.store
  env[environment.disableTelemetry] = '1'
  env[environment.queueUrl] = addresses.queue
  env[environment.queueToken] = tokens.queue
  env[environment.queueCurrentSigningKey] = current
  env[environment.queueNextSigningKey] = next
  // A client that was told a region reads the names of that region, and the plain ones where there are none.
  for (const [region, address] of Object.entries(addresses.regions)) {
    const prefix = region.replaceAll('-', '_').toUpperCase()
    env[`${prefix}_${environment.queueUrl}`] = address
    env[`${prefix}_${environment.queueToken}`] = tokens.queue
    env[`${prefix}_${environment.queueCurrentSigningKey}`] = current
    env[`${prefix}_${environment.queueNextSigningKey}`] = next
  }
  return env
}
