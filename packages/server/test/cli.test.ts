import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { run, started } from './command-line.js'

describe('serve', () => {
  test('prints addresses, the environment of the SDKs and the line "ready", and answers', async () => {
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
      KV_REST_API_URL: `${origin}/main/store`,
      QSTASH_URL: `${origin}/main/queue`,
      QSTASH_TOKEN: expect.stringMatching(/.+/),
      QSTASH_CURRENT_SIGNING_KEY: expect.stringMatching(/.+/),
      QSTASH_NEXT_SIGNING_KEY: expect.stringMatching(/.+/),
    })
    expect(out.trimEnd().split('\n').at(-1)).toBe('ready')
    const answer = await fetch(`${origin}/main/store/ping`, {
      headers: { authorization: `Bearer ${env.UPSTASH_REDIS_REST_TOKEN}` },
    })
    expect(await answer.json()).toEqual({ result: 'PONG' })
    // From the terminal, and once more from npm, which hands signals on.
    child.kill('SIGINT')
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  test('SIGTERM ends it as cleanly, open streams included', async () => {
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

  test('takes policies, each by its name', async () => {
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

  test('of its own accord its clock is that of people', async () => {
    const before = Date.now()
    const { ready } = started('serve', '--port=0')
    const origin = /(http:\S+)\/main\/store/.exec(await ready)?.[1]
    const state = (await (await fetch(`${origin}/_control/main`)).json()) as { milliseconds: number; mode: string }
    expect(state.mode).toBe('real')
    expect(state.milliseconds).toBeGreaterThanOrEqual(before)
    expect(state.milliseconds).toBeLessThanOrEqual(Date.now() + 1)
  })
})

describe('where other machines can call', () => {
  afterEach(() => vi.unstubAllEnvs())
  const wide = (...args: string[]) =>
    started('serve', '--host', '0.0.0.0', '--port', '0', '--dialect', 'upstash', ...args)
  const told = (out: string, what: string): string | undefined => new RegExp(`^${what} +(\\S+)`, 'm').exec(out)?.[1]

  test('a secret that was made up is told once, and with it the tokens are the same again', async () => {
    const first = await wide().ready
    const made = told(first, 'secret')!
    expect(made).toMatch(/^[\w-]{32}$/)
    vi.stubEnv('STUNTDOUBLE_SECRET', made)
    const { ready } = wide()
    const again = await ready
    const tokens = (out: string) => out.split('\n').filter((line) => /TOKEN=|SIGNING_KEY=|^control token/.test(line))
    expect(tokens(again)).toEqual(tokens(first))
    expect(again).not.toContain(made)
    // What is given goes before the environment.
    expect(tokens(await wide('--secret', 'another one, long enough').ready)).not.toEqual(tokens(first))
  })

  test('env gives the tokens of any tenant to whoever has the control token', async () => {
    const out = await wide().ready
    const url = told(out, 'store')!.replace('/main/store', '')
    const refused = await run('env', '--url', url, '--tenant', 'w1')
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('asks for its token')])
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
    [['--dev-user', 'testUser1'], /What was given as tokens.queue, signingKeys.current, signingKeys.next is public, /],
    [['--secret', 'short'], /has at least 16 characters/],
  ])('%j is refused', async (args, sentence) => {
    const { code, out, err } = await wide(...args).ended
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('a mistake is one sentence and exit code 2', () => {
  test('a port that is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    expect(await run('serve', '--port', String(port))).toEqual({
      code: 2,
      out: '',
      err: `stuntdouble: Port ${port} of localhost is taken, perhaps by a server that was started before: end that one, or give another port (--port), 0 for a free one.\n`,
    })
    await new Promise((resolve) => other.close(resolve))
  })

  test('an address that is not of this machine', async () => {
    const { code, err } = await run('serve', '--port', '0', '--host', '192.0.2.1')
    expect([code, err]).toEqual([
      2,
      'stuntdouble: 192.0.2.1 is not an address of this machine: give one with host (--host), such as 127.0.0.1 or 0.0.0.0.\n',
    ])
  })

  test.each([
    [
      ['serve', '--prot', '1'],
      /^stuntdouble: There is no option --prot\. Did you mean --port\? serve takes --host, --port, .*--deliver-to, .*--allow-production\.\n$/,
    ],
    [['serve', '--startAt', '2030-01-01'], /There is no option --startAt\./],
    [['serve', '--no-port'], /There is no option --no-port\./],
    [['serve', '-p', '1'], /There is no option -p\. Options are written in full: --host\./],
    [['serve', 'now'], /serve takes options only, not "now"\./],
    [['serve', '--port'], /--port needs a value: --port N\./],
    [['serve', '--port', '65536'], /--port is a number from 0 to 65535, not "65536"\./],
    [['serve', '--port', 'http'], /--port is a number from 0 to 65535, not "http"\./],
    [['serve', '--clock', 'fast'], /--clock is one of manual, auto, real, not "fast"\./],
    [['serve', '--dialect', 'acme'], /--dialect is one of auto, neutral, upstash, not "acme"\./],
    [['serve', '--start-at', 'soon'], /--start-at is a time like 2030-01-01T09:00:00Z, not "soon"\./],
    [
      ['serve', '--deliver-to', 'http://shop.test/a'],
      /--deliver-to is loopback, none, any or hosts with commas between them/,
    ],
    [['serve', '--policy', 'retrys=5'], /There is no policy "retrys"\. Did you mean "retries"\?/],
    [
      ['run', '--policy', 'queueLimits.maxRetrys=5', '--', 'true'],
      /queueLimits has no "maxRetrys"\. Did you mean "maxRetries"\?/,
    ],
    [['serve', '--policy', 'retries.now=5'], /The policy retries has no parts: write --policy retries=VALUE\./],
    [['serve', '--policy', 'retries=many'], /policy\.retries takes number, not "many"\./],
    [['serve', '--policy', 'queueLimits.maxRetries="5"'], /policy\.queueLimits\.maxRetries takes number, not "5"\./],
    [['serve', '--policy', 'retries'], /--policy is a name and a value, such as .*, not "retries"\./],
    [['serve', '--policy'], /--policy needs a value: --policy NAME=VALUE\./],
    [['serve', '--request-timeout', 'soon'], /--request-timeout is a duration such as 90s or 2m, not "soon"\./],
    [['serve', '--max-tenants', 'many'], /--max-tenants is a whole number, 1 or more, not "many"\./],
    [['serve', '--dev-user', 'me'], /--dev-user is one of defaultUser, testUser1, testUser2, testUser3, not "me"\./],
    [['env', '--url', 'http://127.0.0.1:9'], /No server answers at .* Start one with "npx stuntdouble serve"\./],
    [['serve', '--deliver-to', 'a,,b'], /--deliver-to is loopback, none, any or hosts/],
    [['play'], /play is written: stuntdouble play FILE\|NAME\..*daylight-saving-night.*thundering-herd/],
    [['play', 'a.yaml', 'b.yaml'], /play is written: stuntdouble play FILE\|NAME\./],
    [
      ['drift', '--queue', 'https://q.example', '--scenario', 'x.yaml', '--scenario'],
      /--scenario needs a value: --scenario FILE\./,
    ],
    [['sevre'], /There is no command sevre\. Did you mean serve\? Commands: init, serve, .*\./],
    [['--port', '1'], /There is no option --port\. Commands: init, serve, .*\./],
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
  ])('prints the lines that a running server wants, for %s', async (format, line) => {
    const { ready } = started('serve', '--port', '0', '--dialect', 'upstash', '--queue-token', 'te"st $x')
    const url = /(http:\S+)\/main\/store/.exec(await ready)![1]!
    const { code, out } = await run('env', '--url', url, '--tenant', 'w1', '--format', format)
    expect(code).toBe(0)
    expect(out).toMatch(line)
    expect(out).toContain(`${url}/w1/store`)
  })

  test('prints all that run gives to a command, the address of the control API included', async () => {
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

  test('a shell takes what is printed for it', async () => {
    const { ready } = started('serve', '--port', '0', '--store-token', `it's "$HOME"`)
    const url = /(http:\S+)\/main\/store/.exec(await ready)![1]!
    const { out } = await run('env', '--url', url)
    const told = execFileSync('sh', ['-c', `${out}\nprintf %s "$SERVICE_REDIS_REST_TOKEN"`], { encoding: 'utf8' })
    expect(told).toBe(`it's "$HOME"`)
  })
})

describe('doctor', () => {
  test('finds a real host and tells what to do', async () => {
    const real = { UPSTASH_REDIS_REST_URL: 'https://eu1-real.upstash.io', QSTASH_URL: '' }
    const { code, out } = await withEnv(real, () => run('doctor'))
    expect(code).toBe(1)
    expect(out).toMatch(/^✗ {2}UPSTASH_REDIS_REST_URL in the environment is eu1-real\.upstash\.io, the real service/m)
  })

  test('is content with a machine where all is well', async () => {
    const { code, out } = await withEnv({ UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:4010/main/store' }, () =>
      run('doctor'),
    )
    expect(out).toMatch(/^✓ {2}Node \d/m)
    expect(out).toMatch(/^✓ {2}vitest 5\./m)
    expect(out).toMatch(/^✓ {2}No variable in the environment leads to a real service$/m)
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

test('the log of requests is JSON on lines, without secrets', async () => {
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

test.each([[[]], [['--help']], [['help']]])('usage is shown for %j', async (args) => {
  const { code, out } = await run(...(args as string[]))
  expect(code).toBe(0)
  expect(out).toContain('serve')
})

test('the usage of serve names every option', async () => {
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
