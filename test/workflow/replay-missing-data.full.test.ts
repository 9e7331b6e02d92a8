import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client as QueueClient } from '@upstash/qstash'
import { Client, WorkflowNonRetryableError, WorkflowRetryAfterError } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { describe, expect, test, vi } from 'vitest'
import { parseRunHistory, type RunHistory, type RunHistoryEntry, replay } from '../../packages/explore/src/checks.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { connectionOf, everyKind } from './every-kind.js'
import type { Loose } from './world.js'

type Route = (context: Loose) => Promise<unknown>
const url = 'https://shop.test/api/order'

const app =
  (route: Route) =>
  ({ urls, tokens, destinations }: Sandbox): void => {
    const qstashClient = new QueueClient({ baseUrl: urls.queue, token: tokens.queue })
    destinations.on(url, serve(route, { qstashClient, receiver: undefined as never }).POST as never)
  }

async function recorded(route: Route, body: unknown = { id: 1 }): Promise<RunHistory> {
  using sandbox = createSandbox({ onWarning: () => {} })
  using _ = replaceFetch(sandbox)
  app(route)(sandbox)
  const client = new Client({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue })
  const { workflowRunId } = await client.trigger({ url, body })
  await sandbox.clock.drain()
  return JSON.parse(JSON.stringify(sandbox.workflow.getRun(workflowRunId).history())) as RunHistory
}

const ok = { incompatible: [], unchecked: [] }
const one = (value: unknown = 1) => value
/** Simulates a dependency that is absent during a replay: a database, a key, or a host. */
let isThere = true
const needed = (): number => {
  if (!isThere) throw new Error('ECONNREFUSED')
  return 1
}
async function replayedWithout(history: RunHistory, route: Route) {
  isThere = false
  try {
    return await replay(history, app(route))
  } finally {
    isThere = true
  }
}

test('consecutive groups of the same size are distinguished', async () => {
  const pair = (context: Loose, a: string, b: string) =>
    Promise.all([context.run(a, () => one()), context.run(b, () => one())])
  const route = async (context: Loose) => {
    await pair(context, 'a', 'b')
    await pair(context, 'c', 'd')
    await context.run('last', () => one())
  }
  expect(await replay(await recorded(route), app(route))).toMatchObject({ prefixes: 10, ...ok })
})

describe('a body that fails because of an absent dependency is not a difference, however the code handles it', () => {
  const routes: Readonly<Record<string, Route>> = {
    'it throws': async (context) => {
      await context.run('pay', needed)
      await context.run('last', () => one())
    },
    'it throws what is no error': async (context) => {
      await context.run('pay', () => {
        if (!isThere) throw 'no data base'
      })
      await context.run('last', () => one())
    },
    'the code wraps the error': async (context) => {
      try {
        await context.run('pay', needed)
      } catch (error) {
        // The SDK ends a delivery by throwing its own errors.
        if ((error as Error).message !== 'ECONNREFUSED') throw error
        throw new Error('wrapped')
      }
      await context.run('last', () => one())
    },
    'a saga compensates': async (context) => {
      try {
        await context.run('pay', needed)
        await context.run('book', needed)
      } catch (error) {
        if ((error as Error).message !== 'ECONNREFUSED') throw error
        await context.run('refund', () => one())
      }
      await context.run('last', () => one())
    },
    'a saga whose bodies are asynchronous': async (context) => {
      try {
        await context.run('pay', async () => needed())
        await context.run('book', async () => needed())
      } catch (error) {
        if ((error as Error).message !== 'ECONNREFUSED') throw error
        await context.run('refund', () => one())
      }
      await context.run('last', () => one())
    },
    'the code does not mind': async (context) => {
      try {
        await context.run('pay', async () => needed())
      } catch (error) {
        if ((error as Error).message !== 'ECONNREFUSED') throw error
      }
      await context.run('last', () => one())
    },
    'the code does not mind that its last step failed': async (context) => {
      try {
        await context.run('pay "now"', async () => needed())
      } catch (error) {
        if ((error as Error).message !== 'ECONNREFUSED') throw error
      }
    },
    'a branch of several does not mind': async (context) => {
      const pay = async (name: string): Promise<void> => {
        try {
          await context.run(name, async () => needed())
        } catch (error) {
          if (!(error as Error).message.includes('ECONNREFUSED')) throw error
        }
      }
      await Promise.all([pay('a'), pay('b')])
      await context.run('last', () => one())
    },
    'it cannot be tried again': async (context) => {
      await context.run('pay', () => {
        if (!isThere) throw new WorkflowNonRetryableError('no key')
      })
      await context.run('last', () => one())
    },
    'it is to be tried later': async (context) => {
      await context.run('pay', () => {
        if (!isThere) throw new WorkflowRetryAfterError('busy', 60)
      })
      await context.run('last', () => one())
    },
    'beside others': async (context) => {
      await Promise.all([context.run('pay', needed), context.run('mail', needed)])
      await context.run('last', () => one())
    },
    'it hangs': async (context) => {
      await context.run('pay', () => (isThere ? 1 : new Promise(() => {})))
      await context.run('last', () => one())
    },
  }
  test.each(Object.keys(routes))('%s', async (name) => {
    const history = await recorded(routes[name]!)
    expect(await replayedWithout(history, routes[name]!)).toMatchObject(ok)
  })

  test('a failing step that was added at the end is not a difference', async () => {
    const history = await recorded((context) => context.run('pay', needed))
    for (const added of [
      (context: Loose) => context.run('added', needed),
      (context: Loose) => context.run('added', () => new Promise(() => {})),
      async (context: Loose) => {
        try {
          await context.run('added', async () => needed())
        } catch (error) {
          throw (error as Error).message === 'ECONNREFUSED' ? new Error('wrapped') : error
        }
      },
    ]) {
      const route: Route = async (context) => {
        await context.run('pay', () => one())
        await added(context)
      }
      expect(await replayedWithout(history, route)).toMatchObject(ok)
      expect(await replayedWithout({ ...history, state: 'RUN_STARTED' }, route)).toMatchObject(ok)
    }
    const throws: Route = async (context) => {
      await context.run('pay', () => one())
      throw new Error('outside steps')
    }
    for (const state of ['RUN_SUCCESS', 'RUN_STARTED'])
      expect((await replayedWithout({ ...history, state }, throws)).incompatible).toMatchObject([
        { prefix: 2, actual: 'responded 500: outside steps' },
      ])
  })

  test('a change of the code is a difference despite absent dependencies', async () => {
    const route: Route = async (context) => {
      await context.run('pay', needed)
      await context.run('last', needed)
    }
    const history = await recorded(route)
    for (const changed of [
      (context: Loose) => context.run('pay', needed),
      async () => {},
      async (context: Loose) => {
        await context.run('pay', needed)
        await context.run('other', needed)
      },
    ])
      expect((await replayedWithout(history, changed)).incompatible).not.toEqual([])
  })
})

test('a route that hangs is reported without waiting forever', async () => {
  const route: Route = async (context) => {
    for (const name of ['a', 'b', 'c', 'd']) await context.run(name, () => one())
  }
  const history = await recorded(route)
  const hangs: Route = async (context) => {
    await context.run('a', () => one())
    await new Promise(() => {})
  }
  const { prefixes, incompatible, unchecked } = await replay(history, app(hangs), { timeout: 50 })
  expect(prefixes).toBe(3)
  expect(incompatible.map(({ message: sentence }) => sentence)).toEqual([
    expect.stringMatching(/^After step 1 'a', step 2 'b' \(Run\) .*not respond/),
    expect.stringMatching(/^After step 2 'b', step 3 'c' \(Run\) .*not respond/),
  ])
  expect(unchecked).toEqual([{ prefix: 4, reason: expect.stringMatching(/not respond .*all later lists.* skipped/) }])
  // The replaced globals are restored.
  expect(await replay(history, app(route))).toMatchObject(ok)
  await expect(replay(history, () => new Promise(() => {}), { timeout: 5 })).rejects.toThrow(
    /replay\(\).*function .*not return .*`timeout`/,
  )
  await expect(replay(history, app(route), { timeout: 0 })).rejects.toThrow(/timeout .*1 ms or more/)
})

test('a module that throws while it is loaded is reported', async () => {
  const history = await recorded((context) => context.run('a', () => one()))
  const fetched = globalThis.fetch
  const broken = (): never => {
    throw new Error('DATABASE_URL is missing')
  }
  await expect(replay(history, broken)).rejects.toThrow('DATABASE_URL is missing')
  expect(globalThis.fetch).toBe(fetched)
  const { incompatible } = await replay(history, ({ destinations }) => void destinations.on(url, broken))
  expect(incompatible).toMatchObject([
    { prefix: 1, actual: expect.stringMatching(/^responded 500: .*threw Error: DATABASE_URL is missing$/) },
    { prefix: 2, actual: expect.stringMatching(/^responded 500: .*threw Error: DATABASE_URL is missing$/) },
  ])
})

test('no host is reachable during a replay, by fetch or another client', async () => {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    response.end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  const { port } = server.address() as AddressInfo
  const seen: string[] = []
  const route: Route = async (context) => {
    await context.run('fetch', async () => {
      await fetch(`http://localhost:${port}/fetch`).catch((error: Error) => seen.push(error.message))
    })
    await context.run('http', async () => {
      await new Promise<void>((resolve) => {
        get(`http://localhost:${port}/http`, { agent: false }, (response) => response.resume().on('end', resolve)).on(
          'error',
          (error) => {
            seen.push(error.message)
            resolve()
          },
        )
      })
    })
  }
  const history = await recorded(route)
  expect(asked.splice(0)).toEqual(['/fetch', '/http'])
  expect(await replay(history, app(route))).toMatchObject({ prefixes: 3, ...ok })
  expect([asked, seen]).toEqual([
    [],
    Array(2).fill(
      'replay(): the code under test can reach only the sandbox. Register the host with sandbox.outbound.on().',
    ),
  ])
  // Hosts are reachable again afterwards.
  expect(await (await fetch(`http://localhost:${port}/again`)).text()).toBe('ok')
  await new Promise((resolve) => server.close(resolve))
})

test('replay() accepts an app at a URL', async () => {
  const route: Route = (context) => context.run('a', () => one())
  const history = await recorded(route)
  const moved = { ...history, url: 'https://shop.test/api/moved' }
  await expect(replay(moved, app(route))).rejects.toThrow(
    /replay\(\).*serves nothing .*https:\/\/shop\.test\/api\/moved\. .*destinations\.on\(\).*\{ \.\.\.history, url \}/,
  )
})

test('replay() accepts an app that created its client before the sandbox', async () => {
  vi.stubEnv('QSTASH_TOKEN', 'a-token-of-production')
  vi.stubEnv('QSTASH_URL', undefined)
  const route: Route = async (context) => {
    await context.run('a', () => one())
    await context.sleep('nap', 5)
  }
  const { POST } = serve(route)
  vi.unstubAllEnvs()
  const history = await recorded(route)
  expect(await replay(history, ({ destinations }) => void destinations.on(url, POST as never))).toMatchObject({
    prefixes: 3,
    ...ok,
  })
})

test('replay() accepts an app whose route takes virtual time', async () => {
  const route: Route = (context) => context.run('a', () => one())
  const history = await recorded(route)
  const slow = (sandbox: Sandbox): void => {
    const { POST } = serve(route, {
      qstashClient: new QueueClient({ baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }),
      receiver: undefined as never,
    })
    sandbox.destinations.on(url, async (request, task) => {
      await task.sleep('40s')
      return (POST as Loose)(request)
    })
  }
  expect(await replay(history, slow)).toMatchObject({ prefixes: 2, ...ok })
})

test('replay() accepts a payload above the message limit of the smallest plan', async () => {
  const route: Route = (context) => context.run('a', () => context.requestPayload.length)
  const history = await recorded(route, 'x'.repeat(1_200_000))
  expect(await replay(history, app(route))).toMatchObject({ prefixes: 2, ...ok })
})

test('concurrent replays run one after another', async () => {
  const route: Route = async (context) => {
    await context.run('a', () => one())
    await context.sleep('nap', 5)
  }
  const histories = [await recorded(route), await recorded(route), await recorded(route)]
  const fetched = globalThis.fetch
  const all = await Promise.all([
    ...histories.map((history) => replay(history, app(route))),
    replay({} as never, app(route)).catch((error: Error) => error.name),
  ])
  expect(all).toEqual([...histories.map(() => ({ prefixes: 3, ...ok })), 'TypeError'])
  expect(globalThis.fetch).toBe(fetched)
})

test('replay() handles every kind of step, webhooks, and the invoked workflow', async () => {
  using sandbox = createSandbox({ onWarning: () => {} })
  using _ = replaceFetch(sandbox)
  const origin = 'https://shop.test'
  const serveIn = (world: Sandbox): ReturnType<typeof everyKind> => {
    const kinds = everyKind(connectionOf(world), origin)
    world.destinations.on(`${origin}/*`, kinds.handle)
    return kinds
  }
  const { client } = serveIn(sandbox)
  const main = await client.trigger({ url: `${origin}/main`, body: { n: 1 }, retries: 0 })
  await sandbox.clock.drain()
  const log = await (
    await sandbox.fetch(`${sandbox.urls.queue}/v2/workflows/logs`, {
      headers: { authorization: `Bearer ${sandbox.tokens.queue}` },
    })
  ).json()
  expect(sandbox.workflow.runs.map(({ state }) => state)).toEqual(['RUN_FAILED', 'RUN_SUCCESS'])
  for (const { id: runId, url: at } of sandbox.workflow.runs) {
    for (const history of [sandbox.workflow.getRun(runId).history(), parseRunHistory(log, { runId })]) {
      expect(await replay(history, serveIn)).toMatchObject(ok)
      // Each list except the last one, which no entry follows, would have failed for another continuation.
      const other = { ...history, entries: history.entries.map((entry, index) => renamed(entry, index)) }
      const { prefixes, incompatible } = await replay(other, serveIn)
      if (at.endsWith('/main')) expect(prefixes).toBeGreaterThan(15)
      expect(incompatible.length).toBe(prefixes)
    }
  }
  expect(main.workflowRunId).toBe(sandbox.workflow.runs[0]!.id)
})

/** Returns an entry whose step has another name than the code. */
function renamed(entry: RunHistoryEntry, at: number): RunHistoryEntry {
  if (at === 0 || entry.callType !== 'step') return entry
  const step = JSON.parse(Buffer.from(entry.body, 'base64').toString()) as { stepName: string }
  return {
    ...entry,
    body: Buffer.from(JSON.stringify({ ...step, stepName: `old ${step.stepName}` })).toString('base64'),
  }
}

test.each<[string, object, RegExp]>([
  [
    'a history of tomorrow',
    { version: 2 },
    /has version "2", but this package supports version 1\. Update the package/,
  ],
  ['of no version', { version: undefined }, /has version "none"/],
  ['another format', { format: 'other/history' }, /This is not a run history/],
  ['no entries', { entries: [] }, /invalid at entries/],
  ['an entry that is none', { entries: [null] }, /Entry 1 of the list/],
  ['a header with a line break', { headers: { 'x-user': 'a\r\nb' } }, /an invalid header: "x-user"/],
  ['a url that is none', { url: 'javascript:0' }, /invalid at url/],
])('%s throws an error', async (_, change, sentence) => {
  const history = await recorded((context) => context.run('a', () => one()))
  await expect(
    replay(
      { ...history, ...change } as RunHistory,
      app(async () => {}),
    ),
  ).rejects.toThrow(sentence)
})

test('a failed run fails in the replay too', async () => {
  for (const failing of [
    () => Promise.reject(new Error('declined')),
    () => Promise.reject(new WorkflowNonRetryableError('declined')),
  ]) {
    const route: Route = async (context) => {
      await context.run('a', () => one())
      await context.run('b', failing)
    }
    const history = await recorded(route)
    expect(history.state).toBe('RUN_FAILED')
    expect(await replay(history, app(route))).toMatchObject({ prefixes: 2, ...ok })
  }
})

test('replay() handles a call whose body looks like a step', async () => {
  const route: Route = (context) =>
    context.call('ask', { url: 'https://third.test/', method: 'POST', body: { stepName: 'x', stepId: 7 } })
  const history = await recorded(route)
  const open = { stepId: 1, stepName: 'ask', stepType: 'Call', concurrent: 1 }
  expect(
    await replay({ ...history, state: 'RUN_STARTED', entries: history.entries.slice(0, 1), open }, app(route)),
  ).toEqual({
    prefixes: 1,
    ...ok,
  })
})
