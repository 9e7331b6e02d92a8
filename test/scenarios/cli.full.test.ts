import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receiver } from '@upstash/qstash'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { playScenario, type Scenario } from '../../packages/explore/src/scenarios.js'
import { readScenario } from '../../packages/server/src/tenant-scenario/scenario-file.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { devUsers } from '../../src/queue/signing/public-users.js'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { programBundle } from '../support/bundle.js'

// Each test starts programs, which is slow on a busy machine.

const root = new URL('../..', import.meta.url).pathname
const place = mkdtempSync(join(tmpdir(), 'stuntdouble-play-'))
const program = join(place, 'cli.mjs')

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  await build({ ...programBundle, entryPoints: [join(root, 'packages/server/src/programs/cli.ts')], outfile: program })
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function run(args: readonly string[], input?: string): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { cwd: place, env: { ...process.env, NO_COLOR: '1' } })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  child.stdin.end(input ?? '')
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

/**
 * Runs a test file like a runner and returns its failure message; `undefined` if it passes. `test/package` uses real
 * runners.
 */
async function testRun(source: string): Promise<string | undefined> {
  const code = source.replace(/^(?:import|const) \{.*\} (?:from|= require\().*$/gm, '')
  let body: () => Promise<void> = () => Promise.reject(new Error('There is no test in it.'))
  const test = (_title: string, given: typeof body): void => {
    body = given
  }
  const names = { test, defineScenario, playScenario, replaceFetch, Receiver }
  new Function(...Object.keys(names), code)(...Object.values(names))
  const environment = { ...process.env }
  try {
    await body()
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    process.env = environment
  }
}

let files = 0
function fileOf(content: string | object, suffix = 'yaml'): string {
  const file = `file-${++files}.${suffix}`
  writeFileSync(join(place, file), typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** An app in its own process, as a user runs it. */
async function app(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((resolve) => server.once('listening', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const orders = 'https://shop.example.org/api/orders'
const retried = (attempts: readonly number[], more: Partial<Scenario> = {}): Scenario => ({
  name: 'an order',
  destinations: [{ url: orders, script: [{ kind: 'status', status: 500 }] }],
  steps: [{ publish: { to: orders, as: 'order', body: { id: 42 } } }, { drain: true }],
  expect: [{ delivered: { message: 'order', attempts: [...attempts] } }],
  ...more,
})

describe('stuntdouble play', () => {
  test('exits with 0 and prints the timeline and what holds', async () => {
    const { code, out, err } = await run(['play', fileOf(retried([500, 200]))])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^an order {3}seed 1\n/)
    expect(out).toContain('attempt 1 of 4')
    expect(out).toContain('waits 12s until 00:00:12.000')
    expect(out).toContain('✓ expect[0].delivered')
    expect(out.trimEnd()).toMatch(/Holds: 1 of 1\.$/)
  })

  test('exits with 1 and explains what does not hold', async () => {
    const { code, out } = await run(['play', fileOf(retried([200]))])
    expect(code).toBe(1)
    expect(out).toContain('✗ expect[0].delivered')
    expect(out).toContain('attempts: expected [200], received [500, 200]')
    // The timeline is printed once.
    expect(out.match(/attempt 1 of 4/g)).toHaveLength(1)
  })

  test('exits with 1 and names the line of a fault that was never injected', async () => {
    const source = 'name: a\nsteps: [{ drain: true }]\nfaults:\n  - { on: queue.delivery, fault: { kind: reset } }\n'
    const file = fileOf(source)
    const { code, out } = await run(['play', file])
    expect(code).toBe(1)
    expect(out).toContain(`(${file}:4) was never injected`)
  })

  test.each([
    [
      'a mistake',
      () => fileOf('name: a\nsteps:\n  - publsh: {}\n'),
      /^stuntdouble: file-\d+\.yaml:3:5: there is no "publsh"/,
    ],
    ['no such file', () => 'nowhere.yaml', /^stuntdouble: nowhere\.yaml cannot be read\. The file does not exist\./],
    ['a directory', () => '.', /It is a directory/],
    [
      'a store that cannot be loaded',
      () =>
        fileOf(
          retried([200], {
            given: { store: { format: 'stuntdouble/store', version: 1, keys: [{ key: 'a', type: 'hash' }] } },
          }),
        ),
      /^stuntdouble: /,
    ],
  ])('exits with 2: %s', async (_, file, sentence) => {
    const { code, out, err } = await run(['play', file()])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(sentence)
    expect(err).not.toContain('    at ')
  })

  test.each([
    [['play', 'FILE', '--runs', '0'], /--runs must be a number from 1/],
    [['play', 'FILE', '--timeout', 'long'], /--timeout must be a duration/, '--to'],
    [['play', 'FILE', '--to', 'localhost:3000'], /--to must be a URL/],
    [['play', 'FILE', '--to', 'http://shop.example.org/x'], /not this machine\. Add --deliver-to shop\.example\.org/],
    [['play', 'FILE', '--speed', '2'], /play has no option --speed/],
  ])('exits with 2: %j', async (args, sentence, more?: string) => {
    const file = fileOf(retried([200]))
    const { code, err } = await run([
      ...args.map((word) => (word === 'FILE' ? file : word)),
      ...(more === undefined ? [] : [more, 'http://127.0.0.1:9']),
    ])
    expect(code).toBe(2)
    expect(err).toMatch(sentence)
  })

  test('--json prints the verdict and the entries', async () => {
    const { code, out } = await run(['play', fileOf(retried([200])), '--json', '--seed', '9'])
    expect(code).toBe(1)
    const report = JSON.parse(out) as { entries: { type: string; outcome?: { status: number } }[] }
    expect(report).toMatchObject({
      name: 'an order',
      holds: false,
      runs: 1,
      failedSeeds: [9],
      seed: 9,
      endedAt: '2030-01-01T00:00:12.000Z',
    })
    expect(report.entries.filter(({ type }) => type === 'attempt').map(({ outcome }) => outcome?.status)).toEqual([
      500, 200,
    ])
  })

  test('--runs repeats it with other seeds; the same seeds fail in a test', async () => {
    const scenario: Scenario = retried([200], {
      seed: 5,
      destinations: [{ url: orders }],
      faults: [{ on: 'queue.delivery', chance: [1, 3], fault: { kind: 'reset' } }],
    })
    const { code, out, err } = await run(['play', fileOf(scenario), '--runs', '12', '--json'])
    const failed: number[] = []
    for (let seed = 5; seed < 17; seed++) if (!(await playScenario(scenario, { seed })).holds) failed.push(seed)
    expect(failed.length).toBeGreaterThan(0)
    expect(failed.length).toBeLessThan(12)
    expect(code).toBe(1)
    // No progress is printed to a pipe.
    expect(err).toBe('')
    expect(JSON.parse(out)).toMatchObject({ runs: 12, failedSeeds: failed, seed: failed[0] })
  })

  test('reads a scenario from the standard input', async () => {
    expect(await run(['play', '-'], JSON.stringify(retried([500, 200])))).toMatchObject({ code: 0, err: '' })
    expect((await run(['play', '-'], 'nam: a')).err).toContain('stdin:1:1: ')
  })
})

describe('stuntdouble play --to a running app', () => {
  test('delivers with signatures that the SDK accepts, without the script of the scenario', async () => {
    const receiver = new Receiver({
      currentSigningKey: devUsers[0].current,
      nextSigningKey: devUsers[0].next,
    })
    const arrived: { url: string | undefined; retried: unknown; valid: boolean; body: string }[] = []
    const origin = await app(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      const signature = String(request.headers['upstash-signature'])
      const valid = await receiver.verify({ signature, body, url: orders }).catch(() => false)
      arrived.push({ url: request.url, retried: request.headers['upstash-retried'], valid, body })
      response.writeHead(arrived.length < 3 ? 503 : 200).end()
    })
    const file = fileOf(retried([503, 503, 200], { dialect: 'upstash' }))
    const { code, out } = await run(['play', file, '--to', `${origin}/local/orders?debug=1`])
    expect(out).toContain('Holds: 1 of 1.')
    expect(code).toBe(0)
    const body = '{"id":42}'
    const url = '/local/orders?debug=1'
    expect(arrived).toEqual([
      { url, retried: '0', valid: true, body },
      { url, retried: '1', valid: true, body },
      { url, retried: '2', valid: true, body },
    ])
  })

  test('keeps the path of every destination and callback if --to has no path', async () => {
    const arrived: string[] = []
    const origin = await app((request, response) => {
      arrived.push(`${request.method} ${request.url}`)
      response.end()
    })
    const scenario: Scenario = {
      name: 'two destinations and a callback',
      given: { urlGroups: { fleet: ['https://a.example.org/one?x=1', { url: 'https://b.example.org/two' }] } },
      steps: [
        { publish: { to: 'fleet', method: 'PUT', callback: 'https://c.example.org/back' } },
        { publish: { to: 'https://d.example.org/many/{n}', times: 2 } },
        { drain: true },
      ],
      expect: [{ pending: 0 }, { deadLetters: 0 }],
    }
    const { code } = await run(['play', fileOf(scenario), '--to', origin])
    expect(code).toBe(0)
    expect(arrived.sort()).toEqual([
      'POST /back',
      'POST /back',
      'POST /many/1',
      'POST /many/2',
      'PUT /one?x=1',
      'PUT /two',
    ])
    const { code: refused, err } = await run(['play', fileOf(scenario), '--to', `${origin}/one`])
    expect(refused).toBe(2)
    expect(err).toContain('delivers to 3 URLs')
  })

  test('injects its faults as before', async () => {
    let arrived = 0
    const origin = await app((_request, response) => {
      arrived++
      response.end()
    })
    const scenario = retried([0, 200], {
      destinations: [{ url: orders }],
      faults: [{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }],
    })
    expect((await run(['play', fileOf(scenario), '--to', `${origin}/x`])).code).toBe(0)
    expect(arrived).toBe(2)
  })

  test('reports an app that is not reachable, and one that does not respond', async () => {
    const origin = await app(() => {})
    const hung = await run([
      'play',
      fileOf(
        retried([0, 0], {
          steps: [{ publish: { to: orders, as: 'order', retries: 1, timeout: '10s' } }, { drain: true }],
          expect: [{ deadLetter: { message: 'order', attempts: [0, 0], error: 'context deadline exceeded' } }],
        }),
      ),
      '--to',
      `${origin}/x`,
      '--timeout',
      '100ms',
    ])
    expect(hung.out).toContain('Holds: 1 of 1.')
    servers.at(-1)!.closeAllConnections()
    await new Promise((resolve) => servers.pop()!.close(resolve))
    const gone = await run([
      'play',
      fileOf(
        retried([0, 0], {
          steps: [{ publish: { to: orders, as: 'order', retries: 1 } }, { drain: true }],
          expect: [{ deadLetter: { message: 'order', error: 'dial tcp: connect: connection refused' } }],
        }),
      ),
      '--to',
      `${origin}/x`,
    ])
    expect(gone.out).toContain('Holds: 1 of 1.')
  })
})

describe('stuntdouble serve --scenario', () => {
  test('creates the initial state, destinations and faults of the tenant main', async () => {
    const scenario: Scenario = {
      name: 'weather',
      policy: { retries: 1 },
      given: { commands: [['SET', 'stock', 3]], signingKeys: { current: 'sig_a', next: 'sig_b' } },
      destinations: [{ url: orders }],
      faults: [{ on: 'store.request', match: { path: '/get/*' }, times: 1, fault: { kind: 'status', status: 503 } }],
    }
    const child = spawn(
      process.execPath,
      [program, 'serve', '--port', '0', '--clock', 'manual', '--store-token', 't', '--scenario', fileOf(scenario)],
      { cwd: place },
    )
    try {
      const out = await new Promise<string>((resolve, reject) => {
        let told = ''
        child.stdout.on('data', (chunk) => {
          told += chunk
          if (/^ready$/m.test(told)) resolve(told)
        })
        child.on('close', () => reject(new Error(`ended: ${told}`)))
      })
      expect(out).toContain('QSTASH_CURRENT_SIGNING_KEY=sig_a')
      const url = /^store {2}(\S+)$/m.exec(out)![1]
      const get = async (): Promise<[number, unknown]> => {
        const response = await fetch(`${url}/get/stock`, { headers: { authorization: 'Bearer t' } })
        return [response.status, response.status === 200 ? await response.json() : undefined]
      }
      expect(await get()).toEqual([503, undefined])
      expect(await get()).toEqual([200, { result: '3' }])
    } finally {
      child.kill('SIGKILL')
    }
  })

  test('exits with 2 for a file with a mistake', async () => {
    const { code, err } = await run(['serve', '--port', '0', '--scenario', fileOf('nam: a')])
    expect(code).toBe(2)
    expect(err).toMatch(/^stuntdouble: file-\d+\.yaml:1:1: /)
  })
})

describe('stuntdouble import', () => {
  const letter = {
    messageId: 'msg_1',
    url: orders,
    header: { Authorization: ['Bearer top-secret-value'] },
    body: '{"id":42,"email":"ada@lovelace-engines.org"}',
    maxRetries: 1,
    createdAt: 1725323658000,
    dlqId: '1725323670000-0',
    responseStatus: 503,
    responseBody: 'down',
  }

  test('writes a scenario that plays, and prints what it redacted', async () => {
    const source = fileOf({ messages: [letter] }, 'json')
    const { code, out, err } = await run(['import', source])
    expect(code).toBe(0)
    expect(out).toMatch(
      /^# yaml-language-server: \$schema=node_modules\/stuntdouble\/dist\/scenario\.schema\.json\n# msg_1: .*\b1 of 2 attempts/,
    )
    expect(err).toContain('msg_1.header.Authorization → redacted-header-1')
    expect(err).toContain('msg_1.body.email → person-1@example.com')
    for (const text of [out, err]) expect(text).not.toMatch(/top-secret|lovelace/)
    expect(readScenario(out, 'imported.yaml').startAt).toBe('2024-09-03T00:34:18.000Z')
    const played = await run(['play', '-'], out)
    expect(played).toMatchObject({ code: 0, err: '' })
    expect(played.out).toContain('dead letter')
  })

  test('accepts --out, --expect, --keep and --name', async () => {
    const options = [
      '--out',
      'order.json',
      '--expect',
      'delivered',
      '--keep',
      'email',
      '--name',
      'order 4711',
      '--dialect',
      'neutral',
    ]
    const { code, out } = await run(['import', fileOf(letter, 'json'), ...options])
    expect({ code, out }).toEqual({ code: 0, out: '' })
    expect(JSON.parse(readFileSync(join(place, 'order.json'), 'utf8'))).toMatchObject({
      name: 'order 4711',
      dialect: 'neutral',
      steps: [{ publish: { body: letter.body } }, {}],
      expect: [{ delivered: { message: 'message' } }],
    })
    expect((await run(['play', 'order.json'])).code).toBe(1)
  })

  test('writes a scenario with which play --to calls the app, and fails until the app is fixed', async () => {
    const { out } = await run(['import', fileOf(letter, 'json')])
    const file = fileOf(out)
    let answer = 503
    const url = await app((_request, response) => {
      response.statusCode = answer
      response.end('down')
    })
    const before = await run(['play', file, '--to', url])
    expect(before).toMatchObject({ code: 1, err: '' })
    expect(before.out).toMatch(/503 "down".*still fails as recorded/)
    answer = 200
    expect(await run(['play', file, '--to', url])).toMatchObject({ code: 0, err: '' })
  })

  test.each([
    ['--test', 'order.test.ts', "import { test } from 'vitest'"],
    ['--jest', 'order.test.cjs', "const { playScenario } = require('stuntdouble/scenarios')"],
  ])(
    'writes a test for %s that asks for the code, fails as production did, and passes once the code is fixed',
    async (flag, file, imported) => {
      expect((await run(['import', fileOf(letter, 'json'), flag, '--out', file])).code).toBe(0)
      const written = readFileSync(join(place, file), 'utf8')
      expect(written).not.toMatch(/top-secret|lovelace/)
      expect(written.split('\n')).toContain(imported)
      const placeholder = `const handler = undefined // responds at ${orders}`
      const line = written.split('\n').indexOf(placeholder) + 1
      const asked = await testRun(written)
      expect(asked).toMatch(new RegExp(`No code.*handler for ${orders} .*line ${line} `))
      const filledIn = (handler: string): Promise<string | undefined> =>
        testRun(written.replace(placeholder, `const handler = ${handler}`))
      expect(await filledIn("() => new Response('down', { status: 503 })")).toMatch(
        /^✗ expect\[0\]\.recorded: .*\n\nexpect\[0\]\.recorded does not hold:\nRecorded: .*: 503 "down", 2 attempts, a dead letter\.\nNow: .*still fails as recorded/,
      )
      expect(await filledIn("() => new Response('thanks')")).toBeUndefined()
      // A receiver finds its keys in the environment when it is loaded.
      const verified = `async (request) => {
      const receiver = new Receiver({ currentSigningKey: process.env.QSTASH_CURRENT_SIGNING_KEY, nextSigningKey: process.env.QSTASH_NEXT_SIGNING_KEY })
      await receiver.verify({ signature: request.headers.get('upstash-signature'), body: await request.text(), url: request.url })
      return new Response()
    }`
      expect(await filledIn(verified)).toBeUndefined()
    },
  )

  test.each([
    [['import', 'FILE'], 'hello', /is not JSON/],
    [['import', 'FILE'], '{"a":1}', /must be a dead letter, a log entry or a callback body.*fields are a\)/],
    [['import', 'FILE', '--keep', 'names'], JSON.stringify(letter), /--keep must be all or a list of header, cookie/],
    [['import', 'FILE', '--expect', 'luck'], JSON.stringify(letter), /--expect must be one of same, delivered/],
    [['import', 'FILE', '--out', 'no/such/place.yaml'], JSON.stringify(letter), /cannot be written/],
    [['import', 'FILE', '--test', '--format', 'json'], JSON.stringify(letter), /--format applies only to scenarios/],
    [['import'], '', /stuntdouble import \[OPTIONS\] FILE…/],
  ])('exits with 2: %j', async (args, content, sentence) => {
    const file = fileOf(content, 'json')
    const { code, out, err } = await run(args.map((word) => (word === 'FILE' ? file : word)))
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(sentence)
  })
})
