import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connect } from '../../../src/client/connect.js'
import { createSandbox } from '../../../src/index.js'
import { type RunHistory, replay } from '../../explore/src/checks.js'
import { startServer } from '../src/server.js'
import { program, run } from './command-line.js'

// A run that is created by hand with the requests of the SDK.

const directory = mkdtempSync(join(tmpdir(), 'stuntdouble-history-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = (name: string, content: unknown): string => {
  const path = join(directory, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const url = 'https://app.test/api/order'
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')
const charge = { stepId: 1, stepName: 'charge', stepType: 'Run', out: '"paid"', concurrent: 1 }
const nap = { stepId: 2, stepName: 'nap', stepType: 'SleepFor', sleepFor: 86400, concurrent: 1 }
const list = [
  { messageId: 'msg_0', body: encoded({ id: 1 }), callType: 'step' },
  { messageId: 'msg_1', body: encoded(charge), callType: 'step' },
  { messageId: 'msg_2', body: encoded(nap), callType: 'step' },
]

/** Starts a server with a tenant whose workflow run has submitted a step. */
async function production() {
  const server = await startServer({ port: 0, dialect: 'upstash', clock: 'manual' })
  const sandbox = await connect(server.origin, { tenant: 'w1' })
  await sandbox.destinations.respond(url, {
    headers: { 'upstash-workflow-sdk-version': '1', 'upstash-workflow-sdk': 'v' },
  })
  const send = async (path: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
    await fetch(`${sandbox.urls.queue}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'content-type': 'application/json', ...headers },
    })
  const of = {
    'upstash-workflow-runid': 'wfr_1',
    'upstash-workflow-url': url,
    'upstash-workflow-sdk-version': '1',
    'upstash-feature-set': 'LazyFetch,InitialBody,WF_TriggerOnConfig',
  }
  await send(
    `/v2/publish/${url}`,
    { id: 1 },
    {
      ...of,
      'upstash-workflow-init': 'true',
      'upstash-forward-x-user': 'u1',
      'upstash-forward-authorization': 'Bearer very-secret-indeed',
    },
  )
  await sandbox.clock.advance(0)
  for (const step of [charge, nap])
    await send(`/v2/publish/${url}`, step, { ...of, 'upstash-workflow-init': 'false', 'upstash-delay': '1d' })
  return { server, sandbox }
}

describe('history of a run on a server', () => {
  test('is the same from the command, connect() and the control API', async () => {
    const { server, sandbox } = await production()
    try {
      const { code, out, err } = await run('history', '--server', server.origin, '--tenant', 'w1', '--run', 'wfr_1')
      expect([code, err]).toEqual([
        0,
        expect.stringMatching(
          /^wfr_1 of https:\/\/app\.test\/api\/order: RUN_STARTED, 3 entries\nmissing: .*authorization.*hidden.*\n.*payload.*results.*\n$/,
        ),
      ])
      const history = JSON.parse(out) as RunHistory
      expect(history).toEqual(await sandbox.workflow.getRun('wfr_1').history())
      expect(history).toMatchObject({ url, runId: 'wfr_1', headers: { 'x-user': 'u1', authorization: 'Bearer ***' } })
      expect(history.entries.map(({ body }) => body)).toEqual(list.map(({ body }) => body))
      const whole = await sandbox.workflow.getRun('wfr_1').history({ secrets: true })
      expect(whole.headers?.authorization).toBe('Bearer very-secret-indeed')
      const asked = await run(
        'history',
        '--server',
        server.origin,
        '--tenant',
        'w1',
        '--run',
        'wfr_1',
        '--include-secrets',
      )
      expect(JSON.parse(asked.out)).toEqual(whole)
      expect((await sandbox.snapshot()).workflow.getRun('wfr_1').history()).toEqual(history)
      await expect(sandbox.workflow.getRun('wfr_2').history()).rejects.toThrow(
        /getRun\("wfr_2"\).*no such run.* wfr_1 of https:\/\/app\.test/,
      )

      const none = await run('history', '--server', server.origin, '--run', 'wfr_1')
      expect([none.code, none.out, none.err]).toEqual([
        2,
        '',
        expect.stringMatching(/^stuntdouble: workflow\.getRun\("wfr_1"\).*no such run.*Trigger.*\n$/),
      ])
    } finally {
      await server.close()
    }
  })

  test('reports what to do without a run or a server', async () => {
    for (const [args, sentence] of [
      [[], 'history needs a FILE or --run ID.'],
      [['--server', 'http://127.0.0.1:1', '--run', 'wfr_1'], 'npx stuntdouble serve'],
    ] as const) {
      const { code, out, err } = await run('history', ...args)
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(sentence)
      expect(err.trimEnd().split('\n')).toHaveLength(1)
    }
  })
})

describe('history of a file', () => {
  test('uses every option, including repeated headers, and writes a file that can be replayed', async () => {
    const out = join(directory, 'order.json')
    const options = ['--url', url, '--run', 'wfr_1', '--created-at', '2030-01-01T09:00:00Z', '--out', out]
    const headers = ['--header', 'X-User: u1', '--header=x-shop:tea:green', '--header', 'authorization:Bearer abc-def']
    const done = await run('history', file('list.json', list), ...options, ...headers)
    expect([done.code, done.out]).toEqual([0, ''])
    expect(done.err).not.toContain('abc-def')
    const history = JSON.parse(readFileSync(out, 'utf8')) as RunHistory
    expect(history).toEqual({
      format: 'stuntdouble/history',
      version: 1,
      url,
      runId: 'wfr_1',
      createdAt: Date.parse('2030-01-01T09:00:00Z'),
      headers: { 'x-user': 'u1', 'x-shop': 'tea:green', authorization: 'Bearer ***' },
      state: 'RUN_STARTED',
      entries: list,
      missing: [expect.stringMatching(/authorization.*hidden/)],
    })
    const { prefixes, incompatible } = await replay(history, ({ destinations }) => {
      destinations.on(url, () =>
        Response.json(
          { message: "Incompatible step name. Expected 'pay', got 'charge' from the request" },
          { status: 500 },
        ),
      )
    })
    expect([prefixes, incompatible.length]).toEqual([3, 3])
    using sandbox = createSandbox()
    expect(sandbox.workflow.runs).toEqual([])
  })

  test('is read from standard input, also from an existing history', () => {
    const piped = (input: string, ...args: string[]) =>
      spawnSync(process.execPath, [program, 'history', '-', ...args], { input, encoding: 'utf8' })
    const first = piped(`\ufeff${JSON.stringify(list)}`, '--url', url)
    expect(first.status).toBe(0)
    expect(first.stderr).toMatch(
      /^wfr_unknown of https:\/\/app\.test\/api\/order: RUN_STARTED, 3 entries\n(missing: .*\n){3}The history contains the payload/,
    )
    const again = piped(first.stdout, '--header', 'x-user:u1')
    expect(JSON.parse(again.stdout)).toMatchObject({ headers: { 'x-user': 'u1' }, entries: list })
    expect(again.stderr).not.toContain('Headers that')
  })

  test.each<[string, string | object, readonly string[], RegExp]>([
    ['nothing', '', [], /The input is empty\./],
    ['no JSON', '\u001b[31m<html>', [], /not JSON: /],
    ['lines that are none', '[1,\n\n\nx\n]', [], /not JSON: /],
    ['an error', { error: 'not found\u001b[2J' }, [], /responded with an error: not found\\x1b\[2J\./],
    ['a list without --url', list, [], /Set the URL with --url/],
    ['a header without a value', list, ['--url', url, '--header', 'x-user'], /--header must be NAME:VALUE/],
    ['an invalid header', list, ['--url', url, '--header', 'x user:1'], /is not a valid header/],
    ['an option without a value', list, ['--url', url, '--header'], /--header must be NAME:VALUE/],
    ['an unclosed bracket', '['.repeat(1_000_000), [], /not JSON/],
    [
      'deeply nested brackets',
      '['.repeat(200_000) + ']'.repeat(200_000),
      ['--url', url],
      /Entry 1 of the list must be/,
    ],
  ])('rejects %s with one message', async (_, content, args, sentence) => {
    const { code, out, err } = await run('history', file('given.json', content), ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err).not.toContain('\u001b')
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect(err.length).toBeLessThan(1000)
  })

  test('rejects a file that does not exist', async () => {
    const { code, err } = await run('history', join(directory, 'none.json'))
    expect([code, err]).toEqual([2, expect.stringContaining('The file does not exist.')])
  })
})
