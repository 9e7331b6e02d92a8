import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { processError } from 'vitest/internal/browser'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'

// Generic tools print, compare and copy the objects of a sandbox by their own fields.

const shop = 'https://shop.test/orders'
const nine = Date.parse('2030-01-01T09:00:00Z')

/** One object of each kind, with the fields that it shows. */
const kinds: Readonly<Record<string, { one(sandbox: Sandbox): object; fields: object }>> = {
  'a message': {
    one: ({ queue }) => queue.messages[0]!,
    fields: {
      id: expect.stringMatching(/^msg_/),
      kind: 'message',
      url: shop,
      method: 'POST',
      body: 'b',
      state: 'CREATED',
      createdAt: nine + 1,
      notBefore: nine + 3_600_000,
      nextAttemptAt: nine + 3_600_000,
      retried: 0,
      maxRetries: 3,
      isEnded: false,
    },
  },
  'a dead letter': {
    one: ({ queue }) => queue.deadLetters[0]!,
    fields: {
      id: `${nine}-0`,
      createdAt: nine,
      message: expect.objectContaining({ url: 'https://down.test/', state: 'FAILED', isEnded: true }),
      response: { status: 500, body: 'broken' },
    },
  },
  'a schedule': {
    one: ({ queue }) => queue.schedules.list()[0]!,
    fields: { id: 'nightly', createdAt: nine, paused: false, nextTime: nine + 3 * 3_600_000 },
  },
  'a url group': {
    one: ({ queue }) => queue.urlGroups.list()[0]!,
    fields: { name: 'g', createdAt: nine, updatedAt: nine, endpoints: [{ url: shop }] },
  },
  'a timer': {
    one: ({ clock }) => clock.pending.find(({ background }) => !background)!,
    fields: { at: nine + 3_600_000, label: `delivery to ${shop}`, background: false },
  },
  'a run': {
    one: ({ workflow }) => workflow.getRun('wfr_1'),
    fields: { id: 'wfr_1', url: 'https://app.test/', state: 'RUN_STARTED', createdAt: nine },
  },
}

let sandbox: Sandbox

beforeEach(async () => {
  sandbox = createSandbox({ startAt: nine })
  const { queue, destinations, clock } = sandbox
  destinations.respond('https://down.test/', { status: 500, body: 'broken' })
  destinations.respond('https://app.test/', { headers: { 'service-workflow-sdk-version': '1' } })
  queue.publish({ to: 'https://down.test/', retries: 0 })
  queue.urlGroups.addEndpoints('g', [shop])
  const post = async (path: string, headers: Record<string, string>): Promise<void> => {
    const authorization = `Bearer ${sandbox.tokens.queue}`
    const init = { method: 'POST', headers: { authorization, ...headers }, body: '{}' }
    expect((await sandbox.fetch(`${sandbox.urls.queue}${path}`, init)).ok).toBe(true)
  }
  await post(`/v2/schedules/${shop}`, { 'service-cron': '0 12 * * *', 'service-schedule-id': 'nightly' })
  const run = { 'service-workflow-runid': 'wfr_1', 'service-workflow-url': 'https://app.test/' }
  await post('/v2/publish/https://app.test/', { ...run, 'service-workflow-init': 'true' })
  await clock.advance('1ms')
  queue.publish({ to: shop, body: 'b', notBefore: nine + 3_600_000 })
})
afterEach(() => sandbox[Symbol.asyncDispose]())

/** A failing assertion as Vitest reports it. */
function failure(assertion: () => void): { message: string; diff: string } {
  try {
    assertion()
  } catch (error) {
    return processError(error) as { message: string; diff: string }
  }
  throw new Error('The assertion holds.')
}

describe.each(Object.entries(kinds))('%s', (_, { one, fields }) => {
  // The message was published a millisecond later.
  const all = 'kind' in fields ? { ...fields, createdAt: nine + 1 } : fields
  const name = Object.keys(all)[0]!
  const lines = Object.keys(all).length

  test('matches its fields', () => {
    const seen = one(sandbox)
    expect(seen).toMatchObject(all)
    expect(seen).toEqual(expect.objectContaining({ [name]: Object.values(all)[0] }))
    expect(seen).toHaveProperty(name)
    expect(seen).not.toMatchObject({ ...all, [name]: 'other' })
  })

  test('is shown in a diff by its fields', () => {
    const seen = one(sandbox)
    const { [name]: value } = JSON.parse(JSON.stringify(seen)) as Record<string, unknown>
    for (const wrong of [
      () => expect(seen).toMatchObject({ [name]: 'other' }),
      () => expect(seen).toEqual({ [name]: 'other' }),
      () => expect(seen).toEqual(expect.objectContaining({ [name]: 'other' })),
      () => expect([seen]).toMatchObject([{ [name]: 'other' }]),
      () => expect([seen]).toEqual([{ ...all, [name]: 'other' }]),
    ]) {
      const { diff } = failure(wrong)
      expect(diff).toContain('"other"')
      expect(diff).toContain(String(value))
      // The diff has a few more lines than the fields and their nested fields.
      expect(diff.split('\n').length).toBeLessThan(2 * lines + 24)
      expect(diff).not.toMatch(/#|carrier|courier|engine|sequence|WeakMap|Getter/i)
    }
    expect(failure(() => expect([seen]).toEqual([])).diff).toContain(`"${name}": `)
  })

  test('is logged and serialized as JSON with its fields', () => {
    const seen = one(sandbox)
    const stated = JSON.parse(JSON.stringify(seen))
    expect(stated).toEqual(all)
    expect(Object.keys(stated)).toEqual(Object.keys(all))
    expect(inspect(seen, { depth: 9 })).toBe(inspect(stated, { depth: 9 }))
  })
})

test.each(['a timer', 'a run'])('%s equals its fields and is copied with them', (kind) => {
  const { one, fields } = kinds[kind]!
  expect(one(sandbox)).toEqual(fields)
  expect(structuredClone(one(sandbox))).toEqual(fields)
})

test('a message has the same identity wherever it is returned, and shows its present state', async () => {
  const { queue, clock } = sandbox
  sandbox.destinations.respond(shop, 200)
  const message = queue.publish({ to: shop, delay: '1m' })
  expect(queue.getMessage(message.id)).toBe(message)
  expect(queue.messages).toContain(message)
  await clock.advance('1m')
  expect(message).toMatchObject({ state: 'DELIVERED', isEnded: true })
})

test('entries of the log are logged as in JSON', () => {
  const told = sandbox.traffic.filter(({ type }) => type === 'published' || type === 'attempt')
  expect(new Set(told.map(({ type }) => type))).toEqual(new Set(['published', 'attempt']))
  for (const entry of told) expect(inspect(entry)).toBe(inspect(JSON.parse(JSON.stringify(entry))))
})
