import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { run, started } from './command-line.js'

describe('serve', () => {
  test('prints the URLs, the six most important variables and "ready", and responds', async () => {
    const { ready, child, ended } = started('serve', '--port', '0', '--dialect', 'upstash')
    const out = await ready
    const origin = /^store {2}(http:\/\/127\.0\.0\.1:\d+)\/main\/store$/m.exec(out)?.[1]
    expect(out).toContain(`\nqueue  ${origin}/main/queue\nmgmt   ${origin}/main/mgmt\n`)
    const env = Object.fromEntries(
      out
        .split('\n')
        .filter((line) => /^[A-Z_]+=/.test(line))
        .map((line) => line.split(/=(.*)/s)),
    )
    expect(env).toMatchObject({
      UPSTASH_REDIS_REST_URL: `${origin}/main/store`,
      UPSTASH_REDIS_REST_TOKEN: expect.stringMatching(/.+/),
      QSTASH_URL: `${origin}/main/queue`,
      QSTASH_TOKEN: expect.stringMatching(/.+/),
      QSTASH_CURRENT_SIGNING_KEY: expect.stringMatching(/.+/),
      QSTASH_NEXT_SIGNING_KEY: expect.stringMatching(/.+/),
    })
    expect(Object.keys(env)).toHaveLength(6)
    expect(out).toMatch(new RegExp(`^all \\d\\d variables {2}npx stuntdouble env --url ${origin}$`, 'm'))
    expect(out.trimEnd().split('\n').at(-1)).toBe('ready')
    const answer = await fetch(`${origin}/main/store/ping`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    })
    expect(await answer.json()).toEqual({ result: 'PONG' })
    // Ctrl-C arrives twice: from the terminal, and forwarded by npm.
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  test('ends cleanly on SIGTERM, including open streams', async () => {
    const { ready, child, ended } = started('serve', '--port', '0', '--store-token', 'secret')
    const origin = /(http:\S+)\/main\/store/.exec(await ready)?.[1]
    const stream = await fetch(`${origin}/main/store/monitor`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret' },
    })
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 0, err: '' })
    await stream.body?.cancel().catch(() => undefined)
  })

  test('takes several policies by name', async () => {
    const words = ['--policy', 'retries=1', '--policy', 'queueLimits.maxRetries=2', '--policy=queuePlan=free']
    const out = await started('serve', '--port', '0', '--clock', 'manual', ...words).ready
    const [origin] = /http:\/\/127\.0\.0\.1:\d+/.exec(out)!
    const publish = async (body: object) => {
      const init = { method: 'POST', body: JSON.stringify({ to: 'https://shop.test/orders', ...body }) }
      return (await fetch(`${origin}/_control/main/queue/publish`, init)).json()
    }
    expect(await publish({})).toMatchObject({ maxRetries: 1 })
    expect(await publish({ retries: 2 })).toMatchObject({ maxRetries: 2 })
  })

  test('takes every option', async () => {
    const { ready } = started(
      ...['serve', '--host', '127.0.0.1', '--port', '0', '--dialect', 'neutral', '--clock', 'manual', '--seed', '42'],
      ...[
        '--start-at',
        '2031-02-03T04:05:06Z',
        '--store-token',
        's',
        '--store-readonly-token',
        'r',
        '--queue-token',
        'q',
      ],
      ...['--signing-key', 'sig_a', '--next-signing-key', 'sig_b', '--mgmt-user', 'u@shop.test', '--mgmt-key', 'k'],
      ...['--deliver-to', 'shop.test,127.0.0.1:3000'],
    )
    const out = await ready
    for (const line of [
      'SERVICE_REDIS_REST_TOKEN=s',
      'QUEUE_TOKEN=q',
      'QUEUE_CURRENT_SIGNING_KEY=sig_a',
      'QUEUE_NEXT_SIGNING_KEY=sig_b',
    ]) {
      expect(out.split('\n')).toContain(line)
    }
    const origin = /(http:\S+)\/main\/store/.exec(out)?.[1]
    const state = (await (await fetch(`${origin}/_control/main`)).json()) as { now: string; mode: string }
    expect(state).toMatchObject({ now: '2031-02-03T04:05:06.000Z', mode: 'manual' })
    expect((await fetch(`${origin}/main/store/get/a?_token=r`)).status).toBe(200)
    expect((await fetch(`${origin}/main/store/set/a/b?_token=r`)).status).toBe(400)
  })

  test('replaces serverless-redis-http, and a Redis without a password', async () => {
    const { ready } = started(
      ...['serve', '--port', '0', '--store-token', 'example_token', '--redis-port', '0', '--redis-no-auth'],
    )
    const out = await ready
    const origin = /(http:\S+)\/main\/store/.exec(out)?.[1]
    const headers = { authorization: 'Bearer example_token' }
    const answer = await fetch(origin!, { method: 'POST', headers, body: '["SET","a","b"]' })
    expect(await answer.json()).toEqual({ result: 'OK' })
    const [, url] = /^REDIS_URL=(redis:\/\/127\.0\.0\.1:\d+)$/m.exec(out) ?? []
    const { code, out: env } = await run('env', '--url', origin!)
    expect([code, env]).toEqual([0, expect.stringContaining(`export REDIS_URL='${url}'\n`)])
  })

  test('uses a real clock by default', async () => {
    const before = Date.now()
    const { ready } = started('serve', '--port=0')
    const origin = /(http:\S+)\/main\/store/.exec(await ready)?.[1]
    const state = (await (await fetch(`${origin}/_control/main`)).json()) as { milliseconds: number; mode: string }
    expect(state.mode).toBe('real')
    expect(state.milliseconds).toBeGreaterThanOrEqual(before)
    expect(state.milliseconds).toBeLessThanOrEqual(Date.now() + 1)
  })
})

describe('serve on a non-loopback address', () => {
  afterEach(() => vi.unstubAllEnvs())
  const wide = (...args: string[]) =>
    started('serve', '--host', '0.0.0.0', '--port', '0', '--dialect', 'upstash', ...args)
  const told = (out: string, what: string): string | undefined => new RegExp(`^${what} +(\\S+)`, 'm').exec(out)?.[1]

  test('prints a random secret once, with which the next start has the same tokens', async () => {
    const first = await wide().ready
    const made = told(first, 'secret')!
    expect(made).toMatch(/^[\w-]{32}$/)
    vi.stubEnv('STUNTDOUBLE_SECRET', made)
    const { ready } = wide()
    const again = await ready
    const tokens = (out: string) => out.split('\n').filter((line) => /TOKEN=|SIGNING_KEY=|^control token/.test(line))
    expect(tokens(again)).toEqual(tokens(first))
    expect(again).not.toContain(made)
    // An option overrides the environment.
    expect(tokens(await wide('--secret', 'another one, long enough').ready)).not.toEqual(tokens(first))
  })

  test('lets env print the tokens of any tenant to a client with the control token', async () => {
    const out = await wide().ready
    const url = told(out, 'store')!.replace('/main/store', '')
    const refused = await run('env', '--url', url, '--tenant', 'w1')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('requires its token')])
    vi.stubEnv('STUNTDOUBLE_CONTROL_TOKEN', told(out, 'control token')!)
    const { code, out: lines } = await run('env', '--url', url, '--tenant', 'w1', '--format', 'json')
    expect(code).toBe(0)
    const env = JSON.parse(lines) as Record<string, string>
    const answer = await fetch(`${env.UPSTASH_REDIS_REST_URL}/ping`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    })
    expect([env.UPSTASH_REDIS_REST_URL, await answer.json()]).toEqual([`${url}/w1/store`, { result: 'PONG' }])
    expect(JSON.parse(atob(env.QSTASH_TOKEN!))).toMatchObject({ UserID: 'w1' })
  })

  test.each([
    [['--dev-user', 'testUser1'], /tokens\.queue, signingKeys\.current, signingKeys\.next .*public/],
    [['--secret', 'short'], /at least 16 characters/],
  ])('rejects %j', async (args, sentence) => {
    const { code, out, err } = await wide(...args).ended
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('command line errors, in one line and with exit code 2', () => {
  test('reports a port that is in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    expect(await run('serve', '--port', String(port))).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(new RegExp(`^stuntdouble: .*--port.*\\b${port} is already in use.*localhost.*\\n$`)),
    })
    await new Promise((resolve) => other.close(resolve))
  })

  test('reports an address that is not of this machine', async () => {
    const { code, err } = await run('serve', '--port', '0', '--host', '192.0.2.1')
    expect([code, err]).toEqual([2, expect.stringMatching(/^stuntdouble: host .*192\.0\.2\.1 .*not an address.*\n$/)])
  })

  test.each([
    [['serve', '--prot', '1'], /^stuntdouble: serve has no option --prot\. Did you mean --port\? .*serve --help\.\n$/],
    [['serve', '--startAt', '2030-01-01'], /no option --startAt\./],
    [['serve', '--no-port'], /no option --no-port\./],
    [['serve', '--store-token', ''], /^stuntdouble: --store-token needs a value\. Write --store-token T\.\n$/],
    [['serve', '--store-token', '  '], /^stuntdouble: --store-token needs a value\. Write --store-token T\.\n$/],
    [['serve', '--store-token', 'a '], /^stuntdouble: tokens\.store must not begin or end with white space, [^']*\n$/],
    [['serve', '--redis-no-auth'], /^stuntdouble: --redis-no-auth needs --redis-port\. Add a port, such as/],
    [
      ['serve', '--port', '0', '--redis-port', '0', '--redis-no-auth', '--host', '0.0.0.0'],
      /^stuntdouble: redisNoAuth \(--redis-no-auth\) is not possible with host "0\.0\.0\.0", because any machine/,
    ],
    [
      ['serve', '--port', '0', '--redis-port', '0', '--redis-no-auth', '--real-redis', 'redis://127.0.0.1:1'],
      /^stuntdouble: With a real Redis .* cannot have redisPort/,
    ],
    [['serve', '-p', '1'], /no option -p\. .*--host/],
    [['serve', 'now'], /serve takes only options .*"now"/],
    [['serve', '--port'], /--port needs a value\. Write --port N\./],
    [['serve', '--port', '65536'], /--port must be .*65535 \(got "65536"\)/],
    [['serve', '--port', 'http'], /--port must be .*65535 \(got "http"\)/],
    [['serve', '--clock', 'fast'], /--clock must be .*manual, auto, real \(got "fast"\)/],
    [['serve', '--dialect', 'acme'], /--dialect must be .*auto, neutral, upstash \(got "acme"\)/],
    [['serve', '--start-at', 'soon'], /--start-at must be .*\(got "soon"\)/],
    [['serve', '--deliver-to', 'http://shop.test/a'], /--deliver-to must be loopback, none, any, .*http:\/\/shop/],
    [['serve', '--policy', 'retrys=5'], /no policy "retrys"\. Did you mean "retries"\?/],
    [
      ['run', '--policy', 'queueLimits.maxRetrys=5', '--', 'true'],
      /queueLimits has no "maxRetrys"\. Did you mean "maxRetries"\?/,
    ],
    [['serve', '--policy', 'retries.now=5'], /retries has no field "now"\. Write --policy retries=VALUE\./],
    [['serve', '--policy', 'retries=many'], /policy\.retries must be a number \(got "many"\)/],
    [
      ['serve', '--policy', 'queueLimits.maxRetries="5"'],
      /policy\.queueLimits\.maxRetries must be a number \(got "5"\)/,
    ],
    [['serve', '--policy', 'retries'], /--policy must be NAME=VALUE.*\(got "retries"\)/],
    [['serve', '--policy'], /--policy needs a value\. Write --policy NAME=VALUE\./],
    [['serve', '--request-timeout', 'soon'], /--request-timeout must be a duration .*\(got "soon"\)/],
    [['serve', '--max-tenants', 'many'], /--max-tenants must be a whole number .*\(got "many"\)/],
    [['serve', '--databases', 'us,'], /databases: a name must have .*\(got ""\)/],
    [['serve', '--databases', 'us', '--real-redis', 'redis://127.0.0.1:1'], /cannot have databases \(--databases\)/],
    [['run', '--database', 'us', '--', 'true'], /There is no database "us"\./],
    [['serve', '--dev-user', 'me'], /--dev-user must be .*defaultUser, testUser1, testUser2, testUser3 \(got "me"\)/],
    [['env', '--url', 'http://127.0.0.1:9'], /No server .* at .* Start one with "npx stuntdouble serve"\./],
    [['serve', '--deliver-to', 'a,,b'], /--deliver-to must be loopback, none, any, .*a,,b/],
    [
      ['play'],
      /play: an argument is missing\. Write stuntdouble play .*FILE\|NAME\..*daylight-saving-night.*thundering-herd/,
    ],
    [
      ['play', 'a.yaml', 'b.yaml'],
      /play: at most 1 argument can be given \(got 2\)\. Write stuntdouble play .*FILE\|NAME\./,
    ],
    [
      ['drift', '--queue', 'https://q.example', '--scenario', 'x.yaml', '--scenario'],
      /--scenario needs a value\. Write --scenario FILE\./,
    ],
    [['sevre'], /no command sevre\. Did you mean serve\? Commands: init, serve, .*\./],
    [['--port', '1'], /no option --port\. Commands: init, serve, .*\./],
  ])('%j', async (args, sentence) => {
    const { code, out, err } = await run(...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('env', () => {
  test.each([
    ['shell', /^export QSTASH_TOKEN='te"st \$x'$/m],
    ['dotenv', /^QSTASH_TOKEN="te\\"st \\\$x"$/m],
    ['github', /^QSTASH_TOKEN=te"st \$x$/m],
    ['powershell', /^\$env:QSTASH_TOKEN = 'te"st \$x'$/m],
    ['json', /"QSTASH_TOKEN": "te\\"st \$x"/],
  ])('prints the environment of a running server for %s', async (format, line) => {
    const { ready } = started('serve', '--port', '0', '--dialect', 'upstash', '--queue-token', 'te"st $x')
    const url = /(http:\S+)\/main\/store/.exec(await ready)![1]!
    const { code, out } = await run('env', '--url', url, '--tenant', 'w1', '--format', format)
    expect(code).toBe(0)
    expect(out).toMatch(line)
    expect(out).toContain(`${url}/w1/store`)
  })

  test('prints the same variables that run sets, including the URL of the control API', async () => {
    const { ready } = started('serve', '--port', '0', '--clock', 'manual')
    const url = /(http:\S+)\/main\/store/.exec(await ready)![1]!
    const { out } = await run('env', '--url', `${url}/`, '--tenant', 'w1', '--format', 'json')
    const env = JSON.parse(out) as Record<string, string>
    const source = 'console.log(JSON.stringify(process.env))'
    const given = JSON.parse((await run('run', '--', process.execPath, '-e', source)).out) as Record<string, string>
    const added = Object.keys(given).filter((name) => !(name in process.env) && name !== 'NO_COLOR')
    expect(Object.keys(env).sort()).toEqual(added.sort())
    expect(added).toContain('STUNTDOUBLE_CONTROL_URL')
    const answer = await fetch(`${env.STUNTDOUBLE_CONTROL_URL}/clock/advance`, { method: 'POST', body: '{"by":"5m"}' })
    expect(answer.status).toBe(200)
    expect(await (await fetch(`${url}/_control/w1/clock`)).text()).toContain('2030-01-01T00:05:00.000Z')
  })

  test('--database prints the variables of a database, as run sets them', async () => {
    const { ready } = started('serve', '--port', '0', '--dialect', 'upstash', '--databases', 'eu, us')
    const out = await ready
    const url = /(http:\S+)\/main\/store/.exec(out)![1]!
    expect(out).toContain(`\nstore  ${url}/main/store-us   npx stuntdouble env --url ${url} --database us\n`)
    const json = await run('env', '--url', url, '--database', 'us', '--format', 'json')
    const env = JSON.parse(json.out) as Record<string, string>
    expect(env.UPSTASH_REDIS_REST_URL).toBe(`${url}/main/store-us`)
    const answer = await fetch(`${env.UPSTASH_REDIS_REST_URL}/ping`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    })
    expect(await answer.json()).toEqual({ result: 'PONG' })
    expect(await run('env', '--url', url, '--database', 'uss')).toEqual({
      code: 2,
      out: '',
      err: 'stuntdouble: There is no database "uss". Did you mean "us"? The added databases are eu, us.\n',
    })
    const words = ['run', '--dialect', 'upstash', '--databases', 'us', '--database', 'us', '--', process.execPath]
    const given = await run(...words, '-p', 'process.env.UPSTASH_REDIS_REST_URL')
    expect(given.out).toMatch(/\/main\/store-us\n$/)
  })

  test('prints lines that a shell can evaluate', async () => {
    const { ready } = started('serve', '--port', '0', '--store-token', `it's "$HOME"`)
    const url = /(http:\S+)\/main\/store/.exec(await ready)![1]!
    const { out } = await run('env', '--url', url)
    const told = execFileSync('sh', ['-c', `${out}\nprintf %s "$SERVICE_REDIS_REST_TOKEN"`], { encoding: 'utf8' })
    expect(told).toBe(`it's "$HOME"`)
  })
})

describe('doctor', () => {
  test('reports a real host and what to do', async () => {
    const real = { UPSTASH_REDIS_REST_URL: 'https://eu1-real.upstash.io', QSTASH_URL: '' }
    const { code, out } = await withEnv(real, () => run('doctor'))
    expect(code).toBe(1)
    expect(out).toMatch(/^✗ {2}UPSTASH_REDIS_REST_URL .*eu1-real\.upstash\.io.*real service/m)
  })

  test('reports no problem on a valid machine', async () => {
    const { code, out } = await withEnv({ UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:4010/main/store' }, () =>
      run('doctor'),
    )
    expect(out).toMatch(/^✓ {2}Node \d/m)
    expect(out).toMatch(/^✓ {2}vitest 5\./m)
    expect(out).toMatch(/^✓ {2}No variable.*real service$/m)
    expect(code).toBe(0)
  })
})

async function withEnv<T>(values: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, values)
  try {
    return await work()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

test('serve --log prints JSON lines without secrets', async () => {
  const { ready, child, ended } = started('serve', '--port', '0', '--store-token', 'secret', '--log')
  const origin = /(http:\S+)\/main\/store/.exec(await ready)?.[1]
  await (await fetch(`${origin}/main/store/ping?_token=secret`)).text()
  child.kill('SIGTERM')
  const { out } = await ended
  const lines = out.split('\n').filter((line) => line.startsWith('{'))
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { method: 'GET', path: '/main/store/ping?_token=***', status: 200 },
  ])
})

test.each([[[]], [['--help']], [['help']]])('prints the list of commands for %j', async (args) => {
  const { code, out } = await run(...(args as string[]))
  expect(code).toBe(0)
  expect(out).toContain('serve')
})

test('prints every option of serve with --help', async () => {
  const { code, out } = await run('serve', '--help')
  expect(code).toBe(0)
  for (const option of [
    '--host',
    '--port',
    '--dialect',
    '--clock',
    '--seed',
    '--start-at',
    '--deliver-to',
    '--mgmt-key',
  ]) {
    expect(out).toContain(option)
  }
})
