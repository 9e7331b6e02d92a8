// Runs a Python program with redis-py against `serve --redis-port`: `npm run test:nightly -- build redis-py`. The
// client is Debian's package, unpacked and not installed. Runs on Node's type stripping, so its syntax is erasable.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from 'stuntdouble/server'
import { notRun } from '../support/effort.ts'

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-redis-py-'))
const program = new URL('redis-py.py', import.meta.url).pathname
const packages = ['python3-redis', 'python3-deprecated', 'python3-async-timeout', 'python3-packaging', 'python3-wrapt']
const python = '/usr/bin/python3'
const env: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: join(place, 'usr/lib/python3/dist-packages') }

try {
  if (!isThere()) {
    console.log('redis-py: not run, because apt-get could not download it for this Python.')
    process.exitCode = notRun
  } else process.exitCode = (await run()) ? 0 : 1
} finally {
  rmSync(place, { recursive: true, force: true })
}

function isThere(): boolean {
  if (spawnSync('apt-get', ['download', ...packages], { cwd: place, timeout: 300_000 }).status !== 0) return false
  for (const file of readdirSync(place)) spawnSync('dpkg', ['-x', file, place], { cwd: place })
  return spawnSync(python, ['-c', 'import redis'], { env }).status === 0
}

async function run(): Promise<boolean> {
  const server = await startServer({ port: 0, redisPort: 0, clock: 'real' })
  try {
    const child = spawn(python, [program, server.tenant('main').env.REDIS_URL!], {
      env,
      stdio: 'inherit',
      timeout: 60_000,
    })
    const [status] = await once(child, 'close')
    return status === 0
  } finally {
    await server.close()
  }
}
