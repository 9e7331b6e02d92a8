import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Redis as UpstashRedis } from '@upstash/redis'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { run, started } from './command-line.js'

// docs/recipes/docker.md and docs/migrate-from-redis-in-docker.md without Docker: the commands of their files.

const page = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const file = (name: string): unknown => parse(page(`examples/recipes/docker/${name}`))

/** Starts a server with these arguments, but on free ports, as tests run at the same time. */
async function startedOnFreePorts(command: string) {
  const [, line] = /\bstuntdouble (serve .*)$/.exec(command) ?? []
  const args = line!
    .replace(/ > .*$/, '')
    .replace(/(--(?:redis-)?port) \d+/g, '$1 0')
    .split(' ')
  const out = await started(...args).ready
  const [, port] = /^store {2}http:\/\/127\.0\.0\.1:(\d+)\/main\/store$/m.exec(out)!
  const [, redisUrl] = /^REDIS_URL=(.*)$/m.exec(out) ?? []
  return { port: Number(port), redisUrl }
}

async function roundTrip(url: string, token: string): Promise<void> {
  const redis = new UpstashRedis({ url, token, retry: false })
  expect(await redis.set('a', { b: 1 }, { ex: 60 })).toBe('OK')
  const [value, ttl] = await redis.multi().get<object>('a').ttl('a').exec()
  expect(value).toEqual({ b: 1 })
  // The clock of these servers is real.
  expect(ttl).toBeGreaterThan(30)
}

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command: string
        readonly environment?: Readonly<Record<string, string>>
        readonly healthcheck?: { readonly test: readonly string[] }
        readonly ports?: readonly string[]
        readonly depends_on?: object
      }
    >
  >
}

test('the service of compose.yml runs, is healthy, and serves the app by the name of the service', async () => {
  const { services } = file('compose.yml') as Compose
  const { stuntdouble, app } = services
  const { port } = await startedOnFreePorts(stuntdouble!.command)
  const [kind, ...healthcheck] = stuntdouble!.healthcheck!.test.map((word) => word.replace('8079', String(port)))
  expect(kind).toBe('CMD')
  const check = (words: readonly string[]): number | null => spawnSync(process.execPath, words.slice(1)).status
  expect(check(healthcheck)).toBe(0)
  expect(check(healthcheck.map((word) => word.replace(String(port), '1')))).not.toBe(0)

  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = app!.environment!
  expect(url).toBe('http://stuntdouble:8079')
  expect(stuntdouble!.ports).toEqual(['127.0.0.1:8079:8079'])
  expect(app!.depends_on).toEqual({ stuntdouble: { condition: 'service_healthy' } })
  await roundTrip(`http://127.0.0.1:${port}`, token!)
  // The app sends the name of the service as `Host`.
  const asked = `fetch('http://127.0.0.1:${port}/get/a?_token=${token}', { headers: { host: 'stuntdouble:8079' } })`
  const { stdout } = spawnSync(process.execPath, ['-e', `${asked}.then((r) => r.text()).then(console.log)`])
  expect(String(stdout)).toBe('{"result":"{\\"b\\":1}"}\n')
  expect((await fetch(`http://127.0.0.1:${port}/get/a`)).status).toBe(401)
})

test('a server for containers has no Redis port without a password', async () => {
  const words = ['serve', '--host', '0.0.0.0', '--port', '0', '--redis-port', '0', '--store-token', 'example_token']
  expect((await run(...words, '--redis-no-auth')).code).toBe(2)
  const out = await started(...words).ready
  const [, port] = /^REDIS_URL=.*:(\d+)$/m.exec(out)!
  const redis = new Redis(`redis://:example_token@127.0.0.1:${port}`)
  onTestFinished(() => redis.disconnect())
  expect(await redis.ping()).toBe('PONG')
})

test('the workflow waits for its server, and its steps get the URLs of this server', async () => {
  const { jobs } = file('github-actions.yml') as { jobs: { test: { steps: readonly Step[]; services?: object } } }
  interface Step {
    readonly run?: string
    readonly env?: Readonly<Record<string, string>>
  }
  expect(jobs.test.services).toBeUndefined()
  const [start, wait] = jobs.test.steps.flatMap(({ run: script = '' }) =>
    script.includes('serve') ? script.trim().split('\n') : [],
  )
  const { port, redisUrl } = await startedOnFreePorts(start!.replace(/ &$/, ''))
  const waited = spawnSync('sh', ['-c', wait!.replace('8079', String(port))], { encoding: 'utf8' })
  expect([waited.status, waited.stdout]).toEqual([0, expect.stringContaining('"ok"')])
  const { UPSTASH_REDIS_REST_TOKEN: token, REDIS_URL: url } = jobs.test.steps.find(
    ({ run: script }) => script === 'npm test',
  )!.env!
  await roundTrip(`http://localhost:${port}`, token!)
  const redis = new Redis(url!.replace('6379', new URL(redisUrl!).port))
  onTestFinished(() => redis.disconnect())
  expect(JSON.parse((await redis.get('a'))!)).toEqual({ b: 1 })
})

test('stuntdouble run gives the command the URLs of a server of its own', async () => {
  const [line = ''] = /^npx stuntdouble run .*$/m.exec(page('docs/recipes/docker.md')) ?? []
  const words = line
    .replace(/^npx stuntdouble /, '')
    .replace(/ -- npm test$/, '')
    .split(' ')
  const script = `
    const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, REDIS_URL } = process.env
    const at = new URL(url).origin
    fetch(at, { method: 'POST', headers: { authorization: 'Bearer ' + token }, body: '["PING"]' })
      .then((r) => r.text()).then((text) => console.log(text, REDIS_URL))`
  const { code, out } = await run(...words, '--', process.execPath, '-e', script)
  expect([code, out]).toEqual([0, expect.stringMatching(/^\{"result":"PONG"\} redis:\/\/127\.0\.0\.1:\d+$/m)])
})

test('each command that the page of the migration shows starts a server', { timeout: 30_000 }, async () => {
  // A script starts the server in the background. The rest of its line is for the shell.
  const commands = page('docs/migrate-from-redis-in-docker.md').matchAll(/^npx stuntdouble serve [^>\n]*[^>\n ]/gm)
  const lines = [...commands].map(([line]) => line)
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    const { port, redisUrl } = await startedOnFreePorts(line)
    await roundTrip(`http://localhost:${port}`, 'example_token')
    expect(redisUrl === undefined).toBe(!line.includes('--redis-port'))
  }
})
