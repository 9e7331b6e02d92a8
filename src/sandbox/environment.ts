import { type QueueRegion, queueRegions } from '../protocol/address.js'
import { regionalName, type Vocabulary, vocabulariesOf } from '../protocol/vocabulary.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { Sandbox } from './sandbox.js'

/** Addresses, tokens and keys under the names that the SDKs read from the environment, in all words that count. */
export function environmentOf(
  sandbox: Sandbox,
  keysIn: (region: QueueRegion) => SigningKeyPair,
): Record<string, string> {
  const sets = vocabulariesOf(sandbox.vocabulary).map((vocabulary) => environmentIn(vocabulary, sandbox, keysIn))
  return Object.assign({}, ...sets) as Record<string, string>
}

function environmentIn(
  { environment }: Vocabulary,
  { queue, addresses, tokens }: Sandbox,
  keysIn: (region: QueueRegion) => SigningKeyPair,
): Record<string, string> {
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
  for (const region of queueRegions) {
    const keys = keysIn(region)
    env[regionalName(environment.queueUrl, region)] = addresses.regions[region]
    env[regionalName(environment.queueToken, region)] = tokens.queue
    env[regionalName(environment.queueCurrentSigningKey, region)] = keys.current
    env[regionalName(environment.queueNextSigningKey, region)] = keys.next
  }
  return env
}
