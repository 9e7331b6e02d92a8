import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseRunHistory, type RunHistory, RunHistoryError, replay } from '../../packages/explore/src/checks.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { isReplay, runs, seedOr } from '../support/effort.js'
import type { Loose } from './world.js'

// A run history with missing data must not look like a change of the code. The route reads every value and continues
// differently for any other value.

const url = 'https://app.test/picky'
const third = 'https://third.test/'

const picky =
  (names: { readonly gold?: string; readonly last?: string } = {}) =>
  async (context: Loose): Promise<string> => {
    const { kind } = await context.run('look', () => ({ kind: 'gold', long: 'x'.repeat(100) }))
    // Not before the first step: in a call, the SDK provides its response there.
    if (context.requestPayload.id !== 1) throw new Error('no order')
    await context.run(kind === 'gold' ? (names.gold ?? 'gold') : 'plain', () => undefined)
    const { body } = await context.call('ask', { url: third, method: 'POST', body: 'all?' })
    if (body.paid !== true) throw new Error('not paid')
    const { eventData } = await context.waitForEvent('approval', 'approved', { timeout: '1d' })
    if (eventData.by !== 'Ada') return 'refused'
    const [a, b] = await Promise.all([context.run('a', () => 'A'), context.run('b', () => ['B'])])
    if (a !== 'A' || b[0] !== 'B') return 'odd'
    await context.sleep('nap', 60)
    return await context.run(names.last ?? 'last', () => 'done')
  }

const served =
  (route: (context: Loose) => Promise<unknown> = picky()) =>
  ({ urls, tokens, destinations }: Sandbox): void => {
    const qstashClient = new QueueClient({ baseUrl: urls.queue, token: tokens.queue })
    destinations.on(url, serve(route, { qstashClient, receiver: undefined as never }).POST as never)
  }

async function ran(redact?: { readonly body?: true; readonly header?: string[] }): Promise<Loose> {
  const world = createSandbox({ startAt: '2030-01-01T09:00:00Z', onWarning: () => {} })
  using _ = replaceFetch(world)
  world.destinations.respond(third, { status: 200, body: { paid: true } })
  served()(world)
  const headers = { 'x-user': 'u1', authorization: 'Bearer not-to-be-shown' }
  const { workflowRunId } = await clientOf(world).trigger({
    ...{ url, body: { id: 1 }, workflowRunId: 'one', headers },
    ...(redact && { redact: redact as never }),
  })
  await world.clock.advance('1m')
  const early = JSON.parse(JSON.stringify(world.workflow.getRun(workflowRunId).history())) as RunHistory
  const log = (query = ''): Promise<Loose> => asked(world, `/v2/workflows/logs?workflowRunId=wfr_one${query}`)
  const waiting = await log()
  world.workflow.notify('approved', { by: 'Ada' })
  await world.clock.drain()
  expect(world.workflow.getRun(workflowRunId).result).toBe('done')
  const [whole, without, cut] = [await log(), await log('&trimBody=-1'), await log('&trimBody=5')]
  return { world, early, waiting, whole, without, cut, direct: world.workflow.getRun(workflowRunId).history() }
}

const clientOf = ({ urls, tokens }: Sandbox): Client => new Client({ baseUrl: urls.queue, token: tokens.queue })

async function asked(world: Sandbox, path: string): Promise<Loose> {
  const headers = { authorization: `Bearer ${world.tokens.queue}` }
  return await (await world.fetch(world.urls.queue + path, { headers })).json()
}

let logs: Loose
let hushed: Loose
beforeAll(async () => {
  logs = await ran()
  hushed = await ran({ body: true, header: ['x-user'] })
})

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
const stepsOf = (log: Loose): Loose[] => log.runs[0].steps.flatMap((group: Loose) => group.steps)

async function unharmed(json: unknown): Promise<RunHistory> {
  const history = copy(parseRunHistory(copy(json), { headers: { authorization: 'Bearer x', 'x-user': 'u1' } }))
  const { incompatible } = await replay(history, served())
  expect(incompatible).toEqual([])
  return history
}

test('a complete log has nothing missing, and every change is found', async () => {
  const history = await unharmed(logs.whole)
  expect(await replay(history, served())).toMatchObject({ prefixes: 11, incompatible: [], unchecked: [] })
  for (const names of [{ gold: 'silver' }, { last: 'end' }])
    expect((await replay(history, served(picky(names)))).incompatible).not.toEqual([])
})

test('a log with redacted, omitted or truncated values lists them, and raises no false alarm', async () => {
  for (const [json, sentence] of [
    [hushed.whole, /^Redacted; .*the payload, step 1 "look", step 3 "ask", step 4 "approval"/],
    [logs.without, /^Not in the log; .*the payload, step 1 "look", step 2 "gold", step 3 "ask"/],
    [logs.cut, /^Truncated; .*the payload, step 1 "look", step 3 "ask"/],
  ] as const) {
    const history = await unharmed(json)
    expect(history.missing?.find((one) => sentence.test(one))).toBeDefined()
    const { unchecked } = await replay(history, served())
    expect(unchecked.length).toBeGreaterThan(0)
    expect(unchecked[0]!.reason).toMatch(/history lacks: the payload/)
  }
})

describe('a log with one incomplete step raises no false alarm', () => {
  const spoil: Readonly<Record<string, (step: Loose) => void>> = {
    'without out': (step) => delete step.out,
    redacted: (step) => Object.assign(step, { out: `REDACTED:${'ab'.repeat(32)}`, callResponseBody: 'REDACTED:ab' }),
    cut: (step) =>
      Object.assign(step, { out: step.out?.slice(0, 3), callResponseBody: step.callResponseBody?.slice(0, 3) }),
    'out that is no text': (step) => Object.assign(step, { out: { a: 1 } }),
    'out and answer of the call': (step) => {
      for (const name of ['out', 'callResponseStatus', 'callResponseBody', 'callResponseHeaders']) delete step[name]
    },
  }
  test.each(Object.keys(spoil))('%s', async (how) => {
    for (const at of stepsOf(logs.whole).keys()) {
      const log = copy(logs.whole)
      const step = stepsOf(log)[at]
      if (how === 'cut' && typeof step.out !== 'string') continue
      spoil[how]!(step)
      await unharmed(log)
    }
  })
})

test('other forms of a log result in the same run history', async () => {
  for (const change of [
    (log: Loose) => log.runs[0].steps.find(({ type }: Loose) => type === 'parallel').steps.reverse(),
    (log: Loose) => stepsOf(log).map((step) => delete step.stepId),
    (log: Loose) => stepsOf(log).map((step) => delete step.concurrent),
    (log: Loose) => log.runs[0].steps.push({ type: 'next', steps: [{ messageId: 'msg_x', state: 'STEP_RETRY' }] }),
  ]) {
    const log = copy(logs.whole)
    change(log)
    expect(parseRunHistory(log)).toEqual(parseRunHistory(logs.whole))
  }
  const [run] = logs.whole.runs
  expect(parseRunHistory(run)).toEqual(parseRunHistory(logs.whole))
  expect(parseRunHistory([run])).toEqual(parseRunHistory(logs.whole))
})

test('a log without a group or a branch is reported as incomplete', async () => {
  for (const at of logs.whole.runs[0].steps.slice(0, -1).keys()) {
    const log = copy(logs.whole)
    log.runs[0].steps.splice(at, 1)
    const history = await unharmed(log)
    expect(history.missing?.join(' ')).toMatch(
      at === 0 ? /Not in the log.*the payload/ : /The log is incomplete: .* from step \d/,
    )
    expect(history.state).toBe(at === 0 ? 'RUN_SUCCESS' : 'RUN_STARTED')
  }
  const log = copy(logs.whole)
  log.runs[0].steps.find(({ type }: Loose) => type === 'parallel').steps.pop()
  expect((await unharmed(log)).missing).toContainEqual(expect.stringMatching(/log is incomplete.*\bstep 5\b/))
})

test('the step that a run waits for is known, from the double and from the log', async () => {
  for (const history of [logs.early, parseRunHistory(logs.waiting)] as RunHistory[]) {
    expect(history.open).toEqual({ stepId: 4, stepName: 'approval', stepType: 'Wait', concurrent: 1 })
    expect(history.state).toBe('RUN_STARTED')
    expect((await replay(history, served())).incompatible).toEqual([])
    const renamed = async (context: Loose) =>
      picky()({
        ...bound(context),
        waitForEvent: (_: string, ...rest: unknown[]) => context.waitForEvent('consent', ...rest),
      })
    const { incompatible } = await replay(history, served(renamed))
    expect(incompatible).toMatchObject([{ expected: "step 4 'approval' (Wait)", actual: "step 4 'consent' (Wait)" }])
  }
})

/** Returns the methods of a context, so that single ones can be changed. */
const bound = (context: Loose): Loose =>
  Object.assign(
    Object.fromEntries(['run', 'call', 'sleep', 'waitForEvent'].map((name) => [name, context[name].bind(context)])),
    { requestPayload: context.requestPayload },
  )

describe('secrets in a run history', () => {
  test('headers that look like secrets are written only on request', () => {
    for (const history of [logs.direct, parseRunHistory(logs.whole)] as RunHistory[]) {
      expect(JSON.stringify(history)).not.toContain('not-to-be-shown')
      expect(history.headers).toEqual({ 'x-user': 'u1', authorization: 'Bearer ***' })
      expect(history.missing).toContainEqual(expect.stringMatching(/header authorization .*hidden/))
    }
    const { headers, missing } = logs.world.workflow.getRun('wfr_one').history({ secrets: true })
    expect([headers?.authorization, missing]).toEqual(['Bearer not-to-be-shown', undefined])
    expect(parseRunHistory(logs.whole, { secrets: true }).headers?.authorization).toBe('Bearer not-to-be-shown')
    const given = parseRunHistory(logs.whole, { headers: { Authorization: 'Bearer sesame-sesame', 'x-shop': 'tea' } })
    expect(given.headers).toEqual({ authorization: 'Bearer ***', 'x-shop': 'tea' })
  })

  test('fields that the trigger redacts are not in the run history of the double', async () => {
    const history = copy(hushed.direct) as RunHistory
    expect(Buffer.from(history.entries.map(({ body }) => body).join(), 'base64').toString()).not.toMatch(
      /gold"|Ada|paid/,
    )
    expect([history.headers?.['x-user'], history.entries[0]!.unknown]).toEqual(['***', 'redacted'])
    expect((await replay(history, served())).incompatible).toEqual([])
    const open = hushed.world.workflow.getRun('wfr_one').history({ secrets: true })
    expect(await replay(open, served())).toMatchObject({ incompatible: [], unchecked: [] })
  })

  test('a route that reads a hidden header is not a difference, and the header is named', async () => {
    const guarded = async (context: Loose): Promise<unknown> => {
      if (context.headers.get('authorization') !== 'Bearer not-to-be-shown') return 'who are you?'
      return picky()(context)
    }
    const hidden = await replay(logs.direct, served(guarded))
    expect(hidden.incompatible).toEqual([])
    expect(hidden.unchecked[0]!.reason).toMatch(/Failed to authenticate.*headers .*hidden: authorization\.$/s)
    const told = logs.world.workflow.getRun('wfr_one').history({ secrets: true })
    expect(await replay(told, served(guarded))).toMatchObject({ incompatible: [], unchecked: [] })
  })
})

describe('parseRunHistory()', () => {
  const listed = async (): Promise<Loose> => {
    const world: Sandbox = logs.world
    using _ = replaceFetch(world)
    const { workflowRunId } = await clientOf(world).trigger({ url, body: { id: 1 } })
    await world.clock.advance('1m')
    return asked(world, `/v2/workflows/runs/${workflowRunId}`)
  }

  test('accepts the list of a running run, as text or parsed, and lists what is missing', async () => {
    const list = await listed()
    const history = parseRunHistory(JSON.stringify(list), { url })
    expect(parseRunHistory(list, { url })).toEqual(history)
    expect(history).toMatchObject({ url, runId: 'wfr_unknown', state: 'RUN_STARTED', headers: {} })
    expect(history.missing).toEqual([
      expect.stringMatching(/^Headers .*not in the list/),
      expect.stringMatching(/\bID of the run\b.*\bwfr_unknown\b/),
      expect.stringMatching(/creation time .*not in the list\. .*createdAt/),
    ])
    expect(await replay(history, served())).toEqual({ prefixes: 4, incompatible: [], unchecked: [] })
    expect((await replay(history, served(picky({ gold: 'silver' })))).incompatible).not.toEqual([])
    const whole = parseRunHistory(list, { url, headers: {}, runId: 'wfr_2', createdAt: '2030-01-01T09:00:00Z' })
    expect(whole.missing).toBeUndefined()
    expect(parseRunHistory(JSON.parse(JSON.stringify(whole)))).toEqual(whole)
  })

  test.each<[string, unknown, object, RegExp]>([
    ['nothing', '', {}, /^The input is empty\. Use the response of GET \/v2\/workflows\/runs\/ID/],
    ['a page of HTML', '<html>', {}, /^The input is not JSON: /],
    ['a number', 7, {}, /^A workflow run must be a list or an object \(got a number\)/],
    ['null', 'null', {}, /got null/],
    ['an empty list', [], { url }, /^The list is empty/],
    ['a list without url', [{ messageId: 'm', body: '', callType: 'step' }], {}, /Set the URL with --url/],
    [
      'a url that is none',
      [{ messageId: 'm', body: '', callType: 'step' }],
      { url: 'app.test' },
      /^url must be the endpoint of the workflow/,
    ],
    [
      'a list of something else',
      [{ id: 1 }, 'x'],
      { url },
      /^Entry 1 of the list must be \{ messageId, body, callType \}/,
    ],
    [
      'a body that is no base64',
      [{ messageId: 'm', body: '*', callType: 'step' }],
      { url },
      /^Entry 1 of the list has a body that is not base64/,
    ],
    [
      'an error',
      { error: 'workflowRun wfr_1 not found' },
      {},
      /^The service responded with an error: workflowRun wfr_1 not found\. .*use the log/,
    ],
    ['the flat log', { cursor: '', events: [] }, {}, /^This is the flat log/],
    ['an empty log', { cursor: '', runs: [] }, {}, /^The log contains no run\./],
    ['another thing', { messages: [] }, {}, /^This is not a workflow run \(its fields are messages\)\./],
    [
      'a history of tomorrow',
      { format: 'stuntdouble/history', version: 2 },
      {},
      /has version "2", but this package supports version 1/,
    ],
    ['another format', { format: 'har', version: 1 }, {}, /^This is not a run history/],
    [
      'a damaged history',
      { format: 'stuntdouble/history', version: 1, url, runId: 'wfr_1', state: 'x', entries: 7 },
      {},
      /^This run history is invalid at entries/,
    ],
    [
      'a header that is none',
      [{ messageId: 'm', body: '', callType: 'step' }],
      { url, headers: { 'a b': 'x' } },
      /^headers: "a b" with value "x" is not a valid header/,
    ],
    [
      'a time that is none',
      [{ messageId: 'm', body: '', callType: 'step' }],
      { url, createdAt: 'soon' },
      /^createdAt must be milliseconds or a date/,
    ],
  ])('throws an error for %s', (_, json, source, sentence) => {
    expect(() => parseRunHistory(json, source)).toThrow(RunHistoryError)
    expect(() => parseRunHistory(json, source)).toThrow(sentence)
  })

  test('names the runs of a log with several ones, or without the requested one', () => {
    const two = copy(logs.whole)
    two.runs.push({ ...two.runs[0], workflowRunId: 'wfr_two' })
    expect(() => parseRunHistory(two)).toThrow(/several runs: wfr_one, wfr_two\. .*--run ID .*\{ runId \}/)
    expect(parseRunHistory(two, { runId: 'wfr_two' }).runId).toBe('wfr_two')
    expect(parseRunHistory(two, { runId: 'two' }).runId).toBe('wfr_two')
    expect(() => parseRunHistory({ ...two, cursor: '17-1' }, { runId: 'wfr_x' })).toThrow(
      /not contain .*wfr_x, only wfr_one, wfr_two\. .*more pages.* cursor=17-1\./,
    )
  })

  test('returns a run history or throws a RunHistoryError for any input, and replay() returns a verdict', async () => {
    const text = JSON.stringify(logs.whole)
    const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"|\d+|true/g)]
    const spoilt = fc
      .tuple(
        fc.nat(places.length - 1),
        fc.constantFrom('null', '{}', '[]', '1e999', '-1', '"\u001b[31m"', '[[]]', '"__proto__"', '1e9'),
      )
      .map(([at, by]) => {
        const { index, 0: found } = places[at]!
        const isName = text[index + found.length] === ':'
        return `${text.slice(0, index)}${isName && !by.startsWith('"') ? '"x"' : by}${text.slice(index + found.length)}`
      })
    let histories = 0
    await fc.assert(
      fc.asyncProperty(fc.oneof(spoilt, fc.json(), fc.jsonValue()), async (json) => {
        let history: RunHistory
        try {
          history = parseRunHistory(json, { url })
        } catch (error) {
          expect(error).toBeInstanceOf(RunHistoryError)
          return
        }
        expect(parseRunHistory(JSON.stringify(history))).toEqual(copy(history))
        if (histories++ % 10 === 0) await replay({ ...history, url }, served())
      }),
      { numRuns: runs(600, 600, 6000), seed: seedOr(16) },
    )
    if (!isReplay) expect(histories).toBeGreaterThan(100)
  })
})
