import { Client, Receiver } from '@upstash/qstash'
import { afterEach, beforeEach, vi } from 'vitest'
import { fetchThrough } from '../../../src/http/web.js'
import { credentials, type WorldOptions, world } from '../../queue/world.js'

const hostFetch = globalThis.fetch

/** The queue behind the vendor's own client, through the global fetch. */
export function sdkWorld(options: WorldOptions = {}) {
  const made = world({ vocabulary: 'upstash', ...options })
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    if (url.startsWith('https://queue.test')) return fetchThrough(made.exchange, input, init)
    return hostFetch(input, init)
  }
  const client = new Client({
    baseUrl: 'https://queue.test',
    token: credentials.token,
    retry: false,
    enableTelemetry: true,
  })
  const receiver = new Receiver({ currentSigningKey: credentials.current, nextSigningKey: credentials.next })
  return { ...made, client, receiver }
}

/** The SDK prints what it throws; restores the global fetch after each test. */
export function quietSdk(): void {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  })
  afterEach(() => {
    globalThis.fetch = hostFetch
    vi.restoreAllMocks()
  })
}
