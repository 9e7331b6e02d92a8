import type * as Core from 'stuntdouble'
import type * as Matchers from 'stuntdouble/matchers'
import type * as Report from 'stuntdouble/report'
import type * as Scenarios from 'stuntdouble/scenarios'

/** Entries that each platform has. Each is the module, as the program of a user gets it. */
export interface Entries {
  readonly core: typeof Core
  readonly matchers: typeof Matchers
  readonly report: typeof Report
  readonly scenarios: typeof Scenarios
}

export interface Exercised {
  /** What each deferred part did, by name. It depends on nothing but the seed. */
  readonly summary: Readonly<Record<string, unknown>>
  /** Claims about classes and prototypes that do not hold. */
  readonly broken: readonly string[]
}

const shop = 'https://shop.test'

/** Uses every deferred part as a user does. */
export async function exercise({ core, matchers, report, scenarios }: Entries): Promise<Exercised> {
  const broken: string[] = []
  const claim = (what: string, holds: boolean): void => {
    if (!holds) broken.push(what)
  }
  const { createSandbox, InvariantError, ReplyError } = core
  const sandbox = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z', onWarning: () => {} })
  const { store, queue, clock, destinations, traffic, urls, tokens, workflow } = sandbox
  const summary: Record<string, unknown> = {}
  const errorOf = (work: () => unknown): Error => {
    try {
      work()
    } catch (error) {
      return error as Error
    }
    throw new Error(`There is no error: ${work}`)
  }
  const isReply = (what: string, error: Error): string => {
    claim(`${what}: ReplyError of the core`, error instanceof ReplyError)
    claim(`${what}: Error`, error instanceof Error)
    return error.message
  }

  /** All that is inside has the prototypes of this realm. */
  const own = (what: string, value: unknown, deep = 0): void => {
    if (typeof value !== 'object' || value === null || deep > 6) return
    if (Array.isArray(value)) claim(`${what}: Array`, Object.getPrototypeOf(value) === Array.prototype)
    else if (ArrayBuffer.isView(value)) claim(`${what}: Uint8Array`, value instanceof Uint8Array)
    else if (Object.prototype.toString.call(value) === '[object Map]') claim(`${what}: Map`, value instanceof Map)
    else claim(`${what}: Object`, value instanceof Object)
    for (const [key, inner] of Object.entries(value)) {
      // The pairs of a `Response` that a destination created come from the platform, whose realm Vitest's is not.
      if (!(what.endsWith('.reply') && key === 'headers')) own(`${what}.${key}`, inner, deep + 1)
    }
  }
  const kept = (name: string, value: unknown): void => {
    own(name, value)
    summary[name] = value
  }

  // scripts
  kept('scripts', {
    eval: store.run('EVAL', "return {KEYS[1], redis.call('SET', KEYS[1], ARGV[1])['ok'], {1, 2}}", 1, 'k', 'v'),
    function: store.run(
      'FUNCTION',
      'LOAD',
      "#!lua name=lib\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)",
    ),
    called: store.run('FCALL', 'twice', 0, 21),
    failed: isReply(
      'scripts',
      errorOf(() => store.run('EVAL', "return redis.call('NOSUCH')", 0)),
    ),
    pushed: isReply(
      'scripts',
      errorOf(() => store.run('EVAL', "return redis.error_reply('MY way')", 0)),
    ),
  })

  // commands
  kept('commands', {
    json: [store.run('JSON.SET', 'doc', '$', '{"a":{"b":[1,2]}}'), store.run('JSON.GET', 'doc', '$.a.b[1]')],
    stream: [store.run('XADD', 'log', '1-1', 'f', 'v'), store.run('XRANGE', 'log', '-', '+')],
    geo: [
      store.run('GEOADD', 'places', 13.4, 52.5, 'berlin', 2.35, 48.85, 'paris'),
      store.run('GEODIST', 'places', 'berlin', 'paris', 'km'),
    ],
    failed: isReply(
      'commands',
      errorOf(() => store.run('XADD', 'doc', '*', 'f', 'v')),
    ),
  })

  // queue
  let tries = 0
  destinations.on(`${shop}/orders`, () => new Response('done', { status: ++tries % 2 === 1 ? 503 : 200 }))
  destinations.respond(`${shop}/cron`, 200)
  const published = queue.publish({ to: `${shop}/orders`, body: { id: 1 }, retries: 2 })
  own('published', published)
  const ask = async (service: string, method: string, path: string, token: string, headers = {}, body?: string) => {
    const response = await sandbox.fetch(`${service}${path}`, {
      method,
      headers: { authorization: token, ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: response.status, body: await response.text() }
  }
  const bearer = `Bearer ${tokens.queue}`
  const schedule = await ask(urls.queue, 'POST', `/v2/schedules/${shop}/cron`, bearer, {
    'upstash-cron': 'CRON_TZ=Europe/Berlin 0 12 * * *',
    'upstash-schedule-id': 'noon',
  })
  await clock.advance('5h')
  kept('queue', {
    schedule,
    schedules: queue.schedules.list().length,
    upcoming: queue.schedules.upcoming('noon', { from: clock.now(), to: clock.now() + 3 * 86_400_000 }),
  })

  // a workflow run
  destinations.on(`${shop}/flow`, async (request) => {
    const runId = request.headers.get('upstash-workflow-runid')!
    await ask(urls.queue, 'DELETE', `/v2/workflows/runs/${runId}?cancel=false`, bearer, {}, 'finished')
    return new Response('ok')
  })
  await ask(urls.queue, 'POST', `/v2/publish/${shop}/flow`, bearer, {
    'upstash-workflow-init': 'true',
    'upstash-workflow-runid': 'wfr_1',
    'upstash-workflow-url': `${shop}/flow`,
  })
  await clock.advance('1m')
  kept(
    'runs',
    workflow.runs.map(({ id, state }) => ({ id, state })),
  )

  // matchers
  const verdict = (name: keyof typeof matchers.sandboxMatchers, received: unknown, ...given: unknown[]) => {
    const { pass, message } = matchers.sandboxMatchers[name].call({ isNot: false }, received, ...given)
    return { pass, message: pass ? '' : message() }
  }
  kept('matchers', [
    verdict('toHaveKey', store, 'k', { value: 'v' }),
    verdict('toHaveKey', store, 'missing'),
    verdict('toHaveDelivered', queue, { to: `${shop}/orders`, attempts: [503, 200] }),
    verdict('toHaveDelivered', queue, { to: `${shop}/orders`, attempts: [200] }),
    verdict('toHaveSchedule', queue, { to: `${shop}/cron` }),
  ])
  claim('matchers: a pattern', matchers.messageTo(`${shop}/orders`).asymmetricMatch(published))
  const misused = errorOf(() => verdict('toHaveKey', 1, 'k'))
  claim('matchers: Error', misused instanceof Error)

  // dumps and snapshots
  const dump = sandbox.dump()
  own('dump', dump)
  const other = createSandbox({ seed: 7, startAt: '2030-01-01T09:00:00Z', onWarning: () => {} })
  other.load(dump)
  kept('dumps', {
    keys: Object.keys(dump),
    k: other.store.get('k'),
    json: other.store.run('JSON.GET', 'doc'),
    again: JSON.stringify(other.dump()) === JSON.stringify(dump),
  })
  const invalid = errorOf(() => other.load({ version: 99 } as never))
  claim('dumps: TypeError', invalid instanceof TypeError)
  const snapshot = store.dump()
  other.store.load(snapshot)
  kept('snapshots', { snapshot, type: other.store.run('TYPE', 'log') })

  // past
  const past = sandbox.asOf('-1h')
  const fork = await sandbox.fork()
  claim('past: the class of a fork', fork instanceof sandbox.constructor)
  fork.store.run('SET', 'k', 'in the fork')
  kept('past', { k: past.store.get('k'), fork: fork.store.get('k'), own: store.get('k') })

  // reports
  kept('reports', {
    timeline: traffic.timeline(),
    diagram: traffic.diagram(),
    har: traffic.toHar(),
    trace: traffic.toTrace(),
    normalized: traffic.normalized(),
  })
  claim('report: loads a trace', report.loadTrace(traffic.toTrace()).entries.length === traffic.entries.length)
  const html = report.toHtml(traffic)
  kept('pages', { isPage: html.startsWith('<!doctype html>'), names: html.includes('shop.test') })
  claim('report: the trace of a copy', report.diffTraces(report.loadTrace(traffic.toTrace()), traffic).equal)

  // scenarios
  const { holds, sandbox: played } = await scenarios.playScenario(scenarios.scenarios.flappingDestination)
  claim('scenarios: the class of the sandbox', played instanceof sandbox.constructor)
  kept('scenarios', { holds, entries: played.traffic.entries.length })
  claim('scenarios: TypeError', errorOf(() => core.defineScenario({ name: 1 } as never)) instanceof TypeError)

  // statistics
  const basic = `Basic ${btoa(`${tokens.mgmtUser}:${tokens.mgmtKey}`)}`
  kept('statistics', {
    databases: await ask(urls.mgmt, 'GET', '/v2/redis/databases', basic),
    refused: await ask(urls.mgmt, 'GET', '/v2/redis/databases', 'Basic b'),
  })

  // the core, after all parts were loaded
  const lost = createSandbox({ seed: 7 })
  const message = { messageId: 'msg_1', kind: 'message', url: `${shop}/`, method: 'POST' } as const
  const rest = { headers: [], body: '' as never, maxRetries: 3, notBefore: 0, deduplicated: false }
  lost.queue.traffic.append({ type: 'published', ...message, ...rest })
  const violated = errorOf(() => lost.assertInvariants())
  claim(`InvariantError of the core (${violated.message})`, violated instanceof InvariantError)
  kept('invariants', violated.message)
  own('entries', traffic.entries)
  for (const each of [sandbox, other, fork, played, lost]) each.dispose()
  return { summary, broken }
}
