import { Client as QueueClient } from '@upstash/qstash'
import { Client, type WorkflowContext } from '@upstash/workflow'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import { describe, expect, test } from 'vitest'
import { assertCrashSafe, CrashSafetyError, type WorkflowUnderTest } from '../../packages/explore/src/checks.js'
import { replaceFetch } from '../../src/adapters/fetch.js'
import { createSandbox, defineScenario, type Sandbox, type Scenario } from '../../src/index.js'
import { type App, appWith, calls, defects, mails, url } from './crash-defects.js'

// Each check creates dozens of sandboxes with the real SDK.

const count = (app: App) => defects.find(({ name }) => name.startsWith('a counter'))!.broken(app)

async function foundBy(work: Promise<unknown>): Promise<CrashSafetyError> {
  const error = await work.then(
    () => new Error('nothing was found'),
    (found) => found,
  )
  if (error instanceof CrashSafetyError) return error
  throw error
}

test('assertCrashSafe() reports what it tried when nothing fails', async () => {
  const noop = appWith(() => async (context) => {
    await context.run('one', () => 1)
    await context.sleep('nap', '1d')
  })
  // The beginning, the step, and the end of the run: each with five cuts, two concurrent deliveries and a late retry.
  const check = await assertCrashSafe(noop)
  expect(check).toEqual({ deliveries: 3, plans: 21, notTried: 0, skipped: 0 })
  expect(check.coverage).toMatchObject({ reached: 21, possible: 21, unreached: [] })
})

test('a crash plan is described, shown as a scenario and replayed by its name', async () => {
  const found = await foundBy(assertCrashSafe(appWith(count)))
  expect(found.findings.map(({ id }) => id)).toEqual(['before-submission 1', 'duplicate 1', 'late-retry 1'])
  expect(found.message).toContain(`Fails in 3 of 14 crash plans. The smallest one:
  delivery 1 (step 'count') is delivered twice at the same instant
  delivery 1  the beginning of the run → step 'count'     responded 200
  delivery 2  the result of 'count' → the end of the run  responded 200
  → orders = "2", without faults "1"
`)
  const again = await foundBy(assertCrashSafe(appWith(count), { only: ['before-submission 1'] }))
  expect(again.findings).toHaveLength(1)
  expect(again.message).toContain(`Fails in 1 of 1 crash plan. The smallest one:
  the process dies in delivery 1 (step 'count'), before step 'count' is submitted
  delivery 1           the beginning of the run → step 'count'     the process died
  delivery 2, retry 1  the beginning of the run → step 'count'     responded 200
  delivery 3           the result of 'count' → the end of the run  responded 200
  → orders = "2", without faults "1"
`)
  expect(again.message).toContain(`As a scenario, for sandbox.faults.add():
defineScenario('found by assertCrashSafe', [
  { on: 'queue.request', match: { method: 'POST', path: '/v2/batch' }, skip: 1, times: 1, fault: { kind: 'status', status: 500 }, phase: 'before' },
])

Replay: assertCrashSafe(workflow, { only: ['before-submission 1'] })`)
})

/** Returns what a test of the app would see after a run, with the rules that a report suggests. */
async function leftBy(workflow: WorkflowUnderTest, scenario?: Scenario): Promise<unknown> {
  using sandbox = createSandbox({ onWarning: () => {}, seed: 1 })
  replaceFetch(sandbox)
  const charged: string[] = []
  for (const [pattern, answer] of Object.entries(calls)) {
    sandbox.outbound.on(pattern, async (request) => {
      const key = request.headers.get('idempotency-key')
      if (key === null || !charged.includes(key)) charged.push(key ?? (await request.text()))
      return answer()
    })
  }
  const trigger = workflow(sandbox) as () => Promise<unknown>
  if (scenario !== undefined) sandbox.faults.add(scenario.faults)
  await trigger()
  await sandbox.clock.drain()
  expect(sandbox.faults.unused).toEqual([])
  const mailed = sandbox.traffic.ofType('published').filter((entry) => entry.url === mails && !entry.deduplicated)
  const runs = sandbox.workflow.runs.map(({ state, result }) => [state, result])
  return [mailed.map(({ body }) => body), sandbox.store.dump().keys, charged, runs]
}

/** Parses the text of a scenario as a test file would. */
function pasted(literal: string): Scenario {
  return new Function('defineScenario', `return ${literal}`)(defineScenario) as Scenario
}

test('the scenario of a report reproduces the failure in a test, for each defect that has one', async () => {
  const told: string[] = []
  for (const { name, broken } of defects) {
    const { message, findings } = await foundBy(assertCrashSafe(appWith(broken), { outbound: calls }))
    const [literal] = /^defineScenario\([\s\S]*?^\]\)/m.exec(message) ?? []
    if (literal === undefined) {
      // Time and randomness outside steps are found without any disruption. State in memory is not lost with a
      // response.
      const why = 'No fault rule reproduces this failure. Replay the crash plan by its name.'
      expect([name, findings.length === 0 || message.includes(why)]).toEqual([name, true])
      continue
    }
    told.push(name)
    expect(await leftBy(appWith(broken), pasted(literal)), `${name}: ${literal}`).not.toEqual(
      await leftBy(appWith(broken)),
    )
  }
  expect(told.length).toBeGreaterThanOrEqual(12)
})

test('every rule that a failure suggests reproduces it', async () => {
  for (const defect of defects.filter(({ name }) => /counter in|writes, then|publish without/.test(name))) {
    const { findings } = await foundBy(assertCrashSafe(appWith(defect.broken), { outbound: calls }))
    const once = await leftBy(appWith(defect.broken))
    for (const { id, disturbances } of findings) {
      const faults = disturbances.flatMap(({ rules }) => rules)
      if (id.startsWith('between-effects')) continue
      expect(faults, id).not.toHaveLength(0)
      const disturbed = await leftBy(appWith(defect.broken), { name: id, faults })
      expect(disturbed, `${defect.name}: ${id}`).not.toEqual(once)
    }
  }
})

test('the same check finds the same failures', async () => {
  const all = appWith(defects.at(-1)!.broken)
  const [one, two] = [await foundBy(assertCrashSafe(all)), await foundBy(assertCrashSafe(all))]
  expect(two.message).toBe(one.message)
  const other = await foundBy(assertCrashSafe(all, { seed: 2 }))
  expect(other.findings.map(({ id }) => id)).toEqual(one.findings.map(({ id }) => id))
})

test('assertCrashSafe() sends an event before its wait', async () => {
  const { findings } = await foundBy(assertCrashSafe(appWith(defects.at(-1)!.broken)))
  expect(findings.map(({ id }) => id)).toContain('early-event 2')
  const [{ disturbances, differences }] = findings.filter(({ id }) => id === 'early-event 2') as [
    (typeof findings)[number],
  ]
  expect(disturbances[0]!.description).toContain('after the event "paid-o1" has arrived')
  expect(differences).toEqual(['paid = "undefined", without faults "yes"'])
})

test('a process that dies while it fetches the steps loses its memory', async () => {
  const memory = appWith(({ sandbox }) => {
    const seen: string[] = []
    return async (context) => {
      await context.run('one', () => void seen.push('one'))
      await context.run('two', () => void sandbox.store.run('SET', 'seen', seen.join()))
    }
  })
  const found = await foundBy(assertCrashSafe(memory, { only: ['lazy-fetch 2'] }))
  expect(found.findings[0]!.differences).toEqual(['seen = "", without faults "one"'])
})

test('assertCrashSafe() ends branches in another order', async () => {
  const race = appWith(({ sandbox }) => async (context) => {
    const write = (what: string) => () => void sandbox.store.run('RPUSH', 'order', what)
    await Promise.all(['a', 'b', 'c'].map((name) => context.run(name, write(name))))
  })
  const found = await foundBy(assertCrashSafe(race))
  const orders = found.findings.filter(({ id }) => id.startsWith('branch-order'))
  expect(orders).toHaveLength(5)
  expect(orders.at(-1)!.differences).toEqual(['order = ["c","b","a"], without faults ["a","b","c"]'])
})

describe('a crash between two effects of one body', () => {
  /** Runs a command over HTTP, as an app does. */
  const command = async ({ sandbox }: App, ...words: string[]): Promise<unknown> => {
    const headers = { authorization: `Bearer ${sandbox.tokens.store}` }
    const answer = await fetch(sandbox.urls.store, { method: 'POST', headers, body: JSON.stringify(words) })
    return ((await answer.json()) as { result: unknown }).result
  }
  const guarded = (app: App) => async (context: WorkflowContext<{ id: string }>) => {
    await context.run('pay', async () => {
      await command(app, 'GET', 'anything')
      if ((await command(app, 'SET', 'paid', '1', 'NX')) === null) return
      await command(app, 'GET', 'anything')
      await app.charge(context.requestPayload.id, 'o1')
      await command(app, 'SADD', 'log', 'charged')
    })
  }

  test('is found between a command over HTTP and a call to a third party, and the report lists what was done', async () => {
    const found = await foundBy(assertCrashSafe(appWith(guarded), { outbound: calls }))
    expect(found.findings.map(({ id }) => id)).toEqual([
      'between-effects 1.1',
      'between-effects 1.2',
      'lost-response 1.1',
    ])
    expect(found.findings.map(({ disturbances: [one] }) => one!.description)).toEqual([
      expect.stringMatching(
        /dies in delivery 1 \(step 'pay'\), after SET paid .*before POST https:\/\/pay\.test\/charges$/,
      ),
      expect.stringMatching(
        /dies in delivery 1 \(step 'pay'\), after POST https:\/\/pay\.test\/charges .*before SADD log$/,
      ),
      expect.stringMatching(/^the response .*POST https:\/\/pay\.test\/charges .*delivery 1 \(step 'pay'\).*lost/),
    ])
    const lost = expect.stringMatching(/^log does not exist\b.*\{"charged"\}$/)
    expect(found.findings.map(({ differences }) => differences)).toEqual([
      [lost, expect.stringMatching(/^call POST https:\/\/pay\.test\/charges "o1" \(o1\) .*\b0 times\b.*\bonce$/)],
      [lost],
      [lost],
    ])
    const again = await foundBy(assertCrashSafe(appWith(guarded), { outbound: calls, only: ['between-effects 1.2'] }))
    expect(again.findings).toEqual([found.findings[1]])
  })

  test('prevents all later effects, whether or not the error is caught', async () => {
    const stubborn = appWith((app) => async (context) => {
      await context.run('pay', async () => {
        await command(app, 'SADD', 'log', 'one')
        try {
          await command(app, 'SADD', 'log', 'two')
          app.sandbox.store.run('SADD', 'log', 'three')
          await app.charge('o1', 'o1')
        } catch {
          app.sandbox.store.run('SADD', 'dead', 'wrote')
        } finally {
          app.sandbox.store.run('SADD', 'log', 'four')
        }
      })
    })
    const found = await foundBy(assertCrashSafe(stubborn, { outbound: calls }))
    // A process that lives catches the loss of a response, and what it then writes is its own effect.
    expect(found).toMatchObject({ plans: 19, notTried: 0, findings: [{ id: 'lost-response 1.1' }] })
    expect(found.findings[0]!.differences).toEqual([expect.stringMatching(/^dead = \{"wrote"\}.*not exist$/)])
  })

  test('is not tried between reads, or effects that have their own deliveries', async () => {
    const steps = appWith((app) => async (context) => {
      await context.run('one', async () => {
        await command(app, 'GET', 'a')
        await command(app, 'SET', 'a', '1')
        await command(app, 'GET', 'a')
      })
      await context.run('two', () => app.charge('o1', 'o1'))
    })
    expect(await assertCrashSafe(steps, { outbound: calls })).toMatchObject({ plans: 22 })
  })
})

test('is tried for pairs, up to a limit that is reported', async () => {
  const lucky = appWith(({ sandbox }) => async (context) => {
    // The second attempt is deduplicated with the first one, the third is not.
    await context.run(
      'one',
      () => void (Number(sandbox.store.run('INCR', 'tries')) > 2 && sandbox.store.run('SET', 'twice', '1')),
    )
  })
  const ignoreKeys = ['tries']
  expect((await assertCrashSafe(lucky, { ignoreKeys })).plans).toBe(14)
  const found = await foundBy(assertCrashSafe(lucky, { ignoreKeys, depth: 2, maxRuns: 60 }))
  expect(found.message).toMatch(/\b45 crash plans\b.*`maxRuns`/)
  expect(found.findings[0]!.disturbances).toHaveLength(2)
  const { notTried: untried, coverage } = await assertCrashSafe(lucky, { ignoreKeys, maxRuns: 3 })
  expect([untried, coverage.reached, coverage.possible, coverage.unreached.length]).toEqual([11, 3, 14, 11])
  expect(coverage.toString()).toContain('Reached 3 of 14 (21 %)')
})

test('time and randomness within steps are stored with the step', async () => {
  const stamped = appWith(({ sandbox }) => async (context) => {
    await context.run('stamp', () => {
      const drawn = [Date.now(), new Date().toISOString(), Math.random(), crypto.randomUUID()]
      sandbox.store.run('SADD', 'drawn', drawn.join())
    })
  })
  const host = [Date, Math.random, crypto.randomUUID, crypto.getRandomValues, fetch, console.error]
  await assertCrashSafe(stamped)
  expect([Date, Math.random, crypto.randomUUID, crypto.getRandomValues, fetch, console.error]).toEqual(host)
  expect(Object.keys(crypto)).toEqual([])
})

test('code outside steps that is not deterministic is reported with the field, both values and the step', async () => {
  const time = await foundBy(
    assertCrashSafe(appWith(defects.find(({ name }) => name === 'time outside steps')!.broken)),
  )
  expect(time.findings).toEqual([])
  expect(time.message).toMatch(
    /^.*outside steps.*\n {2}step 'morning': header upstash-not-before .*1893456060.* 1893542460.*\n {2}step 'morning': sleepUntil .*1893456060.* 1893542460.*\n.*context\.run\(\)\.$/,
  )
  const loop = await foundBy(assertCrashSafe(appWith(defects.find(({ name }) => name.startsWith('a loop'))!.broken)))
  expect(loop.nondeterminism).toContainEqual({ step: "step 'end'", field: 'stepName', first: 'end', again: 'item 1' })
})

test('values outside steps may depend on the results of steps', async () => {
  const steady = appWith(({ queue }) => async (context) => {
    const id = await context.run('id', () => crypto.randomUUID())
    await context.call('pay', { url: `https://third.test/${id}`, method: 'POST', body: id, headers: { 'x-id': id } })
    await context.sleep('nap', id.length)
    await context.run('publish', async () => {
      const body = { workflowRunId: context.workflowRunId }
      await queue.publishJSON({ url: mails, body, deduplicationId: context.workflowRunId })
    })
    await context.notify('tell', 'someone', { id })
    return id
  })
  const waiting = appWith(() => async (context) => {
    const hook = await context.createWebhook('hook')
    await Promise.all([context.waitForWebhook('hooked', hook, '1m'), context.sleep('beside', 5)])
    const { timeout } = await context.waitForEvent('event', `never ${hook.eventId}`, { timeout: '2m' })
    return [hook.webhookUrl, timeout]
  })
  expect((await assertCrashSafe(waiting)).notTried).toBe(0)
  expect((await assertCrashSafe(steady)).notTried).toBe(0)
})

test('a run that fails because all attempts were used is not a failure of the check', async () => {
  const once: WorkflowUnderTest = (sandbox) => {
    appWith(() => async (context) => void (await context.run('one', () => 1)))(sandbox)
    return () =>
      sandbox.fetch(`${sandbox.urls.queue}/v2/trigger/${url}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${sandbox.tokens.queue}`, 'upstash-retries': '0' },
      })
  }
  expect((await assertCrashSafe(once)).skipped).toBeGreaterThan(0)
})

test('assertCrashSafe() rejects invalid options and names the next step', async () => {
  await expect(assertCrashSafe({} as never)).rejects.toThrow('first argument must be a function')
  await expect(assertCrashSafe(() => {})).rejects.toThrow(/no delivery.*reached the app/)
  const app = appWith(count)
  await expect(assertCrashSafe(app, { only: ['nowhere 1'] })).rejects.toThrow(/no crash plan.*"nowhere 1"/)
  await expect(assertCrashSafe(app, { depth: 3 as never })).rejects.toThrow('depth must be 1, or 2')
  await expect(assertCrashSafe(app, { maxRuns: 0 })).rejects.toThrow('maxRuns must be a whole number')
})

describe('assertCrashSafe() of an app with problems', () => {
  test('reports an app that never ends', async () => {
    const endless = appWith(() => async (context) => {
      for (let nth = 0; ; nth++) await context.sleep(`nap ${nth}`, '1d')
    })
    await expect(assertCrashSafe(endless)).rejects.toThrow(
      /\b500 deliveries .*not ended\. .*drain: .*clock\.advance\('1d'\)/,
    )
    const settle = ({ clock }: Sandbox) => clock.advance('50h')
    expect(await assertCrashSafe(endless, { drain: settle })).toMatchObject({ deliveries: 3, notTried: 0 })
  })

  test('checks an app that always throws, and one without steps', async () => {
    const throws = appWith(({ sandbox }) => async (context) => {
      await context.run('one', () => {
        sandbox.store.run('INCR', 'tries')
        throw new Error('always')
      })
    })
    const found = await foundBy(assertCrashSafe(throws))
    expect(found.findings[0]).toMatchObject({
      id: 'before-handler 1',
      differences: ['tries = "3", without faults "4"'],
    })
    expect(await assertCrashSafe(throws, { ignoreKeys: ['tries'] })).toMatchObject({ deliveries: 4 })
    expect(await assertCrashSafe(appWith(() => async () => 1))).toMatchObject({ deliveries: 4 })
  })

  test('reports a setup or a trigger that throws, and a setup that works only once', async () => {
    const fails = (): never => {
      throw new Error('no app')
    }
    await expect(assertCrashSafe(fails)).rejects.toThrow('no app')
    await expect(assertCrashSafe(() => fails)).rejects.toThrow('no app')
    const seen = new WeakSet<Sandbox>()
    const once: WorkflowUnderTest = (sandbox) => {
      if (seen.has(sandbox)) throw new Error('the port is in use')
      seen.add(sandbox)
      return appWith(() => async (context) => void (await context.run('one', () => 1)))(sandbox)
    }
    const { findings } = await foundBy(assertCrashSafe(once))
    expect(findings[0]!.id).toBe('before-handler 1')
    expect(findings[0]!.differences).toContain('the port is in use')
  })

  test('reports two workflows that invoke each other', async () => {
    const pair: WorkflowUnderTest = (sandbox) => {
      const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
      const turn = (name: string, other: () => unknown) =>
        createWorkflow(async (context: WorkflowContext<number>) => {
          const left = context.requestPayload
          await context.run('write', () => void sandbox.store.run('SADD', 'turns', `${name} ${left}`))
          if (left > 0) await context.invoke('other', { workflow: other(), body: left - 1 } as never)
        })
      const ping: unknown = turn('ping', () => pong)
      const pong: unknown = turn('pong', () => ping)
      const { POST } = serveMany(
        { ping, pong } as never,
        { qstashClient: new QueueClient(connection), receiver: undefined } as never,
      )
      sandbox.destinations.on('https://shop.test/*', POST as unknown as (request: Request) => Promise<Response>)
      return () => new Client(connection).trigger({ url: 'https://shop.test/ping', body: 2 })
    }
    expect(await assertCrashSafe(pair)).toMatchObject({ deliveries: 8, notTried: 0, skipped: 0 })
  })
})

test('the report of a long run has 40 lines, including the disrupted delivery', async () => {
  const long = appWith(({ sandbox }) => async (context) => {
    for (let step = 0; step < 30; step++)
      await context.run(`step ${step}`, () => void sandbox.store.run('INCR', `n${step}`))
  })
  const found = await foundBy(assertCrashSafe(long, { only: ['duplicate 15', 'duplicate 16', 'late-retry 16'] }))
  expect(found.message.split('\n').length).toBeLessThanOrEqual(40)
  expect(found.message).toMatch(/ {2}duplicate 16: n15 = "2".*INCR n14.*INCR n14.*Replay: .*duplicate 15/s)
})
