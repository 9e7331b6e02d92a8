import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { upstashDialect } from '../../../src/protocol/dialect.js'
import { freePort } from '../../../test/support/free-port.js'
import { type StuntdoubleServer, startServer } from '../../server/src/server.js'
import { run, started } from '../../server/test/command-line.js'
import { difference } from '../src/compare-sides.js'
import { reportText } from '../src/drift-report.js'
import { hider } from '../src/drift-secrets.js'
import { recordText } from '../src/record.js'
import { type GoBetween, startBetween } from './go-between.js'

const token = 'AYNgASQgplanted-token-of-a-store-0123456789'
const readOnly = 'AuNgplanted-read-only-token-9876543210'

let server: StuntdoubleServer
let between: GoBetween
let place: string
beforeAll(async () => {
  server = await startServer({
    port: 0,
    clock: 'real',
    dialect: 'upstash',
    tokens: { store: token, storeReadonly: readOnly },
  })
  place = mkdtempSync(join(tmpdir(), 'stuntdouble-drift-'))
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await server.close()
})
beforeEach(async () => {
  between = await startBetween(server.tenant('main').urls.store)
  vi.stubEnv('STUNTDOUBLE_DRIFT_TOKEN', token)
  vi.stubEnv('STUNTDOUBLE_DRIFT_READONLY_TOKEN', readOnly)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await between.close()
})

test('prints what it is going to do, and exits with code 0 without differences', async () => {
  const { code, out, err } = await run('drift', '--url', between.url, '--only', 'string', '--yes')
  expect(err).toBe('')
  expect(code).toBe(0)
  expect(out).toMatch(/^stuntdouble drift \d+\.\d+\.\d+ .*\n/)
  expect(out).toMatch(/The data store at 127\.0\.0\.1:\d+: about \d+ requests/)
  expect(out).toContain('Never sent to it: FLUSHDB, FLUSHALL')
  expect(out).toMatch(/begin with sd_drift_[a-z2-9]{10}_, and deletes them/)
  expect(out).toMatch(/\d+ responses.*\d+ the same.*\b0 known.*\b0 new.*\n$/)
  expect(between.asked[0]!.headers['user-agent']).toMatch(/^stuntdouble-drift\/\d/)
})

test('compares a scenario instead of the contract', async () => {
  const files = ['cart', 'stock'].map((name) => {
    const file = join(place, `${name}.yaml`)
    writeFileSync(file, `name: ${name}\nsteps:\n  - command: [RPUSH, ${name}, a, b]\n  - advance: 1h\n`)
    return file
  })
  between.plant = ({ body }) => (body.includes('stock"') ? { body: '{"result":"2"}' } : undefined)
  const { code, out, err } = await run(
    ...['drift', '--url', between.url, '--yes', '--scenario', files[0]!, `--scenario=${files[1]}`],
  )
  expect([code, err]).toEqual([1, ''])
  expect(out).toContain('RPUSH @stock a b   [scenario: stock]')
  expect(out).toMatch(/\b2 responses.*\b1 the same.*\b0 known.*\b1 new/)
  expect(out).toContain('cart, step 2 (advance)')
  expect(server.tenant('main').store.run('DBSIZE')).toBe(0)
})

test('sends nothing without a terminal and without --yes', async () => {
  const { code, err } = await run('drift', '--url', between.url)
  expect([code, err]).toEqual([2, expect.stringContaining('drift needs a terminal')])
  expect(between.asked).toEqual([])
})

test.each<[string, string[], string]>([
  ['no address', [], 'drift needs the URL of a real service'],
  ['a token in the clear', ['--url', 'http://db.example.com'], '--url must begin with https://'],
  ['a password in the address', ['--url', 'https://u:secret@db.example.com'], '--url contains a password'],
  ['a queue without an endpoint', ['--queue', 'https://queue.example.com'], 'set STUNTDOUBLE_DRIFT_QUEUE_TOKEN'],
  [
    'a scenario without a store',
    ['--queue', 'https://queue.example.com', '--scenario', 'month-end'],
    'Name the store with --url',
  ],
  ['cases that are not there', ['--url', 'https://db.example.com', '--only', 'nothing of that'], 'No case has'],
])('rejects %s', async (_, args, sentence) => {
  const { code, err } = await run('drift', ...args, '--yes')
  expect([code, err]).toEqual([2, expect.stringContaining(sentence)])
  expect(err).not.toContain('secret')
})

test('names the missing variable for a token', async () => {
  vi.stubEnv('STUNTDOUBLE_DRIFT_TOKEN', '')
  const { code, err } = await run('drift', '--url', between.url, '--yes')
  expect([code, err]).toEqual([2, expect.stringContaining('set STUNTDOUBLE_DRIFT_TOKEN')])
})

test('prints where to get a database, as the SDK does', async () => {
  // The warning of the vendor's SDK names the same command.
  const sdk = readFileSync(createRequire(import.meta.url).resolve('@upstash/redis'), 'utf8')
  const command = /curl -X POST https:\S+start-redis/.exec(sdk)?.[0]
  expect(command).toBeDefined()
  expect((await run('drift')).err).toContain(command)
  vi.stubEnv('STUNTDOUBLE_DRIFT_TOKEN', '')
  expect((await run('drift', '--url', between.url)).err).toContain(command)
  expect((await run('drift', '--dialect', 'neutral')).err).not.toContain('curl')
})

test('exits with code 1 for new differences, and records them without secrets', async () => {
  const host = new URL(between.url).host
  between.plant = ({ path, body }) => {
    if (path !== '/' || !body.includes('"APPEND"')) return undefined
    return {
      status: 400,
      body: JSON.stringify({
        error: `ERR refused for Bearer ${token} and ${readOnly} by https://inner.example.net/x?token=abcdef123456 at ${host}, 10.1.2.3, password=hunter2hunter2, redis://default:pa55word@db-7.example.org:6379`,
      }),
    }
  }
  const file = join(place, 'drift.json')
  const { code, out } = await run('drift', '--url', between.url, '--only', 'string: parts', '--yes', '--record', file)
  expect(code).toBe(1)
  expect(out).toMatch(/new: .*error on one side/)
  const recorded = readFileSync(file, 'utf8')
  expect(JSON.parse(recorded)).toMatchObject({
    format: 'stuntdouble/drift',
    version: 1,
    dialect: 'upstash',
    findings: [
      { what: 'an error on one side only', seen: [{ case: 'string: parts' }, { asked: 'APPEND @new abc' }] },
      {},
    ],
  })
  for (const written of [recorded, out.slice(out.indexOf('new: '))]) {
    for (const secret of [
      token,
      readOnly,
      host,
      'inner.example.net',
      'abcdef123456',
      '10.1.2.3',
      'hunter2',
      'pa55word',
      'db-7',
    ])
      expect(written).not.toContain(secret)
    expect(written).not.toMatch(/sd_drift_[a-z2-9]{10}/)
  }
})

test('hides a secret at the place where a text is cut', () => {
  const hide = hider([token], [], upstashDialect)
  for (let before = 360; before <= 402; before += 2) {
    const seen = { asked: 'APPEND @k v', status: 400, loose: [] }
    const error = `ERR ${'x '.repeat(before / 2)}${token} is wrong`
    const found = difference({ ...seen, value: { error: 'ERR no' } }, { ...seen, value: { error } })!
    const findings = [{ ...found, named: undefined, seen: [{ case: 'one', asked: seen.asked }] }]
    const counts = { compared: 1, same: 0, following: 0 }
    const outcome = { findings, ...counts, leftOut: [], broken: [], ended: undefined, remains: [] }
    for (const written of [
      reportText(outcome, hide),
      recordText(outcome, { version: '1', dialect: 'upstash', hide }),
    ]) {
      expect(written).toContain('ERR x x')
      expect(written).not.toContain(token.slice(0, 3))
    }
  }
})

test('ends on Ctrl-C, and removes what it created', async () => {
  const { child, ended } = started('drift', '--url', between.url, '--yes')
  await vi.waitFor(() => expect(between.asked.length).toBeGreaterThan(40), { timeout: 20_000 })
  child.kill('SIGINT')
  const { code, out, err } = await ended
  expect(code).toBe(2)
  expect(out).toMatch(/ended early.*interrupted/)
  expect(err).toContain('interrupted; removing everything that was created')
  expect(err).not.toContain('could not delete')
  expect(server.tenant('main').store.run('DBSIZE')).toBe(0)
})

test('rejects a wrong token before the comparison, instead of reporting 1,200 differences', async () => {
  vi.stubEnv('STUNTDOUBLE_DRIFT_TOKEN', 'not the token')
  const { code, err } = await run('drift', '--url', between.url, '--yes')
  expect([code, err]).toEqual([2, expect.stringContaining('STUNTDOUBLE_DRIFT_TOKEN: the service rejected the token')])
  expect(between.asked).toHaveLength(1)
})

test.each<[string, { status: number; headers: Record<string, string>; body: string }]>([
  ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html>' }],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example/' }, body: '' }],
])('rejects %s in place of a store, instead of reporting differences', async (_, answer) => {
  between.plant = () => answer
  const { code, err } = await run('drift', '--url', between.url, '--yes')
  expect([code, err]).toEqual([2, expect.stringMatching(/--url.*not.* a store/)])
  expect(between.asked).toHaveLength(1)
})

test('receives the deliveries of the queue at its own endpoint', async () => {
  const world = server.tenant('main')
  const port = await freePort()
  vi.stubEnv('STUNTDOUBLE_DRIFT_QUEUE_TOKEN', world.tokens.queue)
  const to = ['--queue', world.urls.queue, '--endpoint', `http://127.0.0.1:${port}/hook`]
  const { code, out, err } = await run(
    'drift',
    ...to,
    '--listen',
    String(port),
    '--only',
    'format of a delivery',
    '--yes',
  )
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('2 responses compared: 2 the same')
  const alone = await run('drift', ...to, '--yes')
  expect([alone.code, alone.err]).toEqual([2, expect.stringContaining('--endpoint does not respond')])
  expect([world.queue.messages.length, world.queue.deadLetters.length]).toEqual([0, 0])
})
