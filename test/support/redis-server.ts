import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A real redis-server, or another program of its package, and the environment it needs to start. */
export interface RedisServer {
  readonly path: string
  readonly env: Record<string, string>
}

export const noRedisServer =
  'there is no redis-server on this machine (`node test/support/obtain-redis-server.ts` obtains one from Debian)'

const cache = new URL('../../.cache/redis-server', import.meta.url).pathname

/** Returns the installed one, or the one in `.cache` from `node test/support/obtain-redis-server.ts`. */
export function findRedisServer(): RedisServer | undefined {
  return find('redis-server')
}

/** Returns its command-line client. */
export function findRedisCli(): RedisServer | undefined {
  return find('redis-cli')
}

function find(program: string): RedisServer | undefined {
  for (const directory of (process.env.PATH ?? '').split(':')) {
    const path = join(directory, program)
    if (directory !== '' && existsSync(path)) return { path, env: {} }
  }
  const path = join(cache, 'usr/bin', program)
  if (!existsSync(path)) return undefined
  return { path, env: { LD_LIBRARY_PATH: libraryDirectories().join(':') } }
}

/** Takes the packages of redis-server and its libraries from Debian into `.cache`, without installing anything. */
export async function obtainRedisServer(): Promise<void> {
  mkdirSync(join(cache, 'packages'), { recursive: true })
  const packages = ['redis-server', 'redis-tools', 'libatomic1', 'libjemalloc2', 'liblzf1', 'libsystemd0']
  const download = spawnSync('apt-get', ['download', ...packages], {
    cwd: join(cache, 'packages'),
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (download.status !== 0) {
    console.error(
      'A redis-server could not be downloaded: this needs apt-get of Debian or Ubuntu and its package lists.',
    )
    return
  }
  for (const file of readdirSync(join(cache, 'packages'))) {
    spawnSync('dpkg', ['-x', join(cache, 'packages', file), cache], { stdio: 'inherit' })
  }
}

function libraryDirectories(): string[] {
  const base = join(cache, 'usr/lib')
  if (!existsSync(base)) return []
  return [base, ...readdirSync(base).map((name) => join(base, name))]
}
