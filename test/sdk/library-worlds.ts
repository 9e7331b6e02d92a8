import type { LockCreateConfig } from '@upstash/lock'
import { Redis } from '@upstash/redis'
import { vi } from 'vitest'
import { startServer } from '../../packages/server/src/server.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox } from '../../src/sandbox/sandbox.js'

/** Client of the SDK. The libraries read its types from the CommonJS entry, where they are different types. */
export type Client = Redis & LockCreateConfig['redis']

/** Stores on one clock, which also sets the host's `Date`, because the libraries compute with it. */
export interface LibraryWorld {
  readonly regions: readonly Client[]
  readonly redis: Client
  now(): number
  /** Moves all clocks, and with them `Date` and the host's timers, where they are fake. */
  advance(by: number | `${number}${'ms' | 's' | 'm' | 'h'}`): Promise<void>
  close(): Promise<void> | void
}

interface Clock {
  now(): number
  advance(by: number | `${number}${'ms' | 's' | 'm' | 'h'}`): Promise<void>
  follow(follower: { advanceBy(ms: number): unknown }): () => void
}

export type Place = 'in process' | 'against the server' | 'at the root of a server'

export async function openWorld(place: Place, names: readonly string[] = ['main']): Promise<LibraryWorld> {
  const open = { 'in process': inProcess, 'against the server': served, 'at the root of a server': servedAtRoot }
  const opened = await open[place](names)
  const first: Clock = opened.clocks[0]!
  vi.setSystemTime(first.now())
  first.follow({ advanceBy: (ms) => vi.advanceTimersByTimeAsync(ms) })
  return {
    regions: opened.regions,
    redis: opened.regions[0]!,
    now: () => first.now(),
    async advance(by) {
      for (const clock of [...opened.clocks].reverse()) await clock.advance(by)
    },
    close: opened.close,
  }
}

function inProcess(names: readonly string[]) {
  const sandboxes = names.map((name) => createSandbox({ name }))
  for (const sandbox of sandboxes) replaceFetch(sandbox)
  return {
    clocks: sandboxes.map((sandbox) => sandbox.clock),
    regions: sandboxes.map((sandbox) => clientOf(sandbox.env)),
    close: () => {
      for (const sandbox of sandboxes) sandbox.dispose()
    },
  }
}

async function served(names: readonly string[]) {
  const server = await startServer({ port: 0, clock: 'manual' })
  const tenants = names.map((name) => server.tenant(name))
  return {
    clocks: tenants.map((tenant) => tenant.clock),
    regions: tenants.map((tenant) => clientOf(tenant.env)),
    close: () => server.close(),
  }
}

/** Each store is at the root of a server of its own, as stores of serverless-redis-http are. */
async function servedAtRoot(names: readonly string[]) {
  const servers = await Promise.all(names.map(() => startServer({ port: 0, clock: 'manual' })))
  return {
    clocks: servers.map((server) => server.tenant('main').clock),
    regions: servers.map((server) => clientOf({ ...server.tenant('main').env, UPSTASH_REDIS_REST_URL: server.origin })),
    close: async () => {
      for (const server of servers) await server.close()
    },
  }
}

function clientOf(env: Readonly<Record<string, string>>): Client {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env
  return new Redis({ url: url!, token: token!, retry: false }) as unknown as Client
}
