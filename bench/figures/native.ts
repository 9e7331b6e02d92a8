// Requests per second over the Redis protocol, by redis-benchmark with 50 connections, over those of a redis-server on
// the same machine.
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import type { Figure, Variant } from '../harness.ts'
import { startRedis } from '../redis-server.ts'

const run = promisify(execFile)

/** The same program measures both, and each has its own process. */
async function figure(pipeline: number, least: number): Promise<Figure | undefined> {
  const redis = await startRedis()
  if (redis === undefined) return undefined
  const own = spawn(process.execPath, ['dist/cli.js', 'serve', '--port', '0', '--redis-port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<URL>((resolve) => {
    let text = ''
    own.stdout.on('data', (chunk) => {
      text += chunk
      const found = /^REDIS_URL=(.*)$/m.exec(text)
      if (found !== null && text.includes('ready')) resolve(new URL(found[1]!))
    })
  })
  let microseconds = 0
  const asked = (name: string, args: readonly string[]): Variant => ({
    name,
    async run() {
      const shape = ['-c', '50', '-n', '40000', '-P', String(pipeline), '-t', 'set,get,incr', '--csv', '-q']
      const { stdout } = await run('redis-benchmark', [...args, ...shape])
      const rates = [...stdout.matchAll(/^"(?:SET|GET|INCR)","([\d.]+)"/gm)].map(([, rate]) => Number(rate))
      microseconds = rates.reduce((sum, rate) => sum + 1e6 / rate, 0) / rates.length
    },
  })
  const withPipeline = pipeline === 1 ? 'without pipeline' : `with -P ${pipeline}`
  return {
    name: `a request over the native protocol, 50 connections ${withPipeline}, over redis-server`,
    baseline: asked('redis-server', ['-p', String(redis.port)]),
    variants: [asked('serve --redis-port', ['-p', url.port, '-a', decodeURIComponent(url.password)])],
    atMost: { 'serve --redis-port': 1 / least },
    times: 1,
    rounds: 7,
    reading: () => microseconds,
    dispose: () => {
      redis.stop()
      own.kill()
    },
  }
}

const nativeRequests = (): Promise<Figure | undefined> => figure(1, 0.35)
const nativePipelines = (): Promise<Figure | undefined> => figure(16, 0.15)

export const figures = [nativeRequests, nativePipelines]
