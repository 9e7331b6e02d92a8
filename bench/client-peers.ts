// Clients of ioredis without a port: one that is connected to a sandbox, and the one of js-redis-server.
import type { Redis } from 'ioredis'
import { Redis as Redis6 } from 'ioredis6'
import { createIoredisMock } from 'js-redis-server'
import { createSandbox } from 'stuntdouble'
import { ioredisConnector } from 'stuntdouble/redis'

/** Returns a client of the newest ioredis on a sandbox, and a client of js-redis-server, which has its own ioredis. */
export async function clientPeers(): Promise<{ readonly ours: Redis; readonly theirs: Redis }> {
  const ours = new Redis6({ Connector: ioredisConnector(createSandbox()) }) as unknown as Redis
  const theirs = (await createIoredisMock()) as Redis
  return { ours, theirs }
}
