import { Receiver } from '@upstash/qstash'
import { createWorkflow } from '@upstash/workflow/nextjs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SandboxOptions } from '../../src/index.js'
import type { Attempt } from '../../src/queue/message/message-entries.js'
import { type WorkflowWorld, workflowWorld } from './world.js'

// Stubs of steps and events, with the real SDK.

// The SDK logs every error to the console, including those of probes.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => void vi.restoreAllMocks())

/** A sandbox whose invariants are checked by name, because its methods are destructured. */
function quiet(options?: SandboxOptions): WorkflowWorld {
  const world = workflowWorld(options)
  return Object.assign(world, { check: world.assertInvariants.bind(world) })
}

test('a stubbed step returns its value to the next one, and its body never runs', async () => {
  const { client, serve, workflow, traffic, assertInvariants: check } = quiet()
  const ran: string[] = []
  const url = serve('/order', async (context) => {
    await context.run('reserve', () => void ran.push('reserve'))
    const charge = await context.run('charge', () => {
      ran.push('charge')
      return { id: 'real' }
    })
    await context.run('mail', () => void ran.push(`mail ${charge.id}`))
    return charge.id
  })
  workflow.stubStep('charge').returns({ id: 'ch_1' })
  const { workflowRunId } = await client.trigger({ url })
  const run = workflow.getRun(workflowRunId)
  await run.advanceToEnd('success')
  expect(ran).toEqual(['reserve', 'mail ch_1'])
  expect(run.result).toBe('ch_1')
  expect(traffic.ofType('step').map(({ stepName }) => stepName)).toEqual(['reserve', 'charge', 'mail'])
  expect(traffic.ofType('attempt').map(({ outcome }) => outcome?.status)).toEqual([200, 200, 200, 200])
  expect(workflow.unused).toEqual([])
  check()
})

/** Returns the responses to all attempts of a run, with the seconds from the start. */
function attemptsOf({ traffic }: WorkflowWorld): (readonly [number, number])[] {
  const start = traffic.entries[0]!.at
  return traffic.ofType('attempt').map(({ at, outcome }) => [(at - start) / 1000, outcome?.status ?? -1] as const)
}

describe('stubStep().returns()', () => {
  test('stubs several consecutive steps, including the first and the last one', async () => {
    const world = quiet()
    const { client, serve, workflow, traffic, assertInvariants: check } = world
    let after = 0
    const ran: string[] = []
    const url = serve('/all', async (context) => {
      const one = await context.run('one', () => void ran.push('one'))
      const two = await context.run('two', () => void ran.push('two'))
      const three = await context.run('three', () => void ran.push('three'))
      after++
      return { one, two, three }
    })
    workflow.stubStep('one').returns(1)
    workflow.stubStep('two').returns()
    workflow.stubStep('three').returns(null)
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(ran).toEqual([])
    expect(run.result).toEqual({ one: 1, three: null })
    // The route ended once: the probe that reached its end was the delivery.
    expect(after).toBe(1)
    expect(traffic.ofType('attempt')).toHaveLength(4)
    check()
  })

  test('stubs a step by its number in a loop', async () => {
    const { client, serve, workflow, assertInvariants: check } = quiet()
    const ran: number[] = []
    const url = serve('/loop', async (context) => {
      const found: unknown[] = []
      for (let page = 1; page <= 4; page++) {
        found.push(
          await context.run('page', () => {
            ran.push(page)
            return page
          }),
        )
      }
      return found
    })
    workflow.stubStep('page', 2).returns('two')
    workflow.stubStep('page', 4).returns('four')
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toEqual([1, 'two', 3, 'four'])
    expect(ran).toEqual([1, 3])
    workflow.stubStep('page').returns('any')
    const next = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await next.advanceToEnd('success')
    expect(next.result).toEqual(['any', 'two', 'any', 'four'])
    check()
  })

  test('stubs parallel steps, with steps before and after', async () => {
    const { client, serve, workflow, assertInvariants: check } = quiet()
    const ran: string[] = []
    const say = (name: string) => () => {
      ran.push(name)
      return name
    }
    const url = serve('/beside', async (context) => {
      await context.run('before', say('before'))
      const group = await Promise.all([
        context.run('a', say('a')),
        context.run('b', say('b')),
        context.run('c', say('c')),
      ])
      const after = await context.run('after', say('after'))
      const more = await Promise.all([context.run('d', say('d')), context.run('e', say('e'))])
      return [...group, after, ...more]
    })
    workflow.stubStep('b').returns('B')
    workflow.stubStep('after').returns('AFTER')
    workflow.stubStep('d').returns('D')
    workflow.stubStep('e').returns('E')
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toEqual(['a', 'B', 'c', 'AFTER', 'D', 'E'])
    expect(ran).toEqual(['before', 'a', 'c'])
    check()
  })

  test('stubs calls, waits, webhooks, invocations and sleeps without any request', async () => {
    const { client, serve, workflow, clock, traffic, assertInvariants: check } = quiet()
    const child = createWorkflow(async () => ({ total: 0 }))
    child.workflowId = 'child'
    const url = serve('/kinds', async (context) => {
      const call = await context.call('pay', { url: 'https://third.test/pay' })
      const wait = await context.waitForEvent('approval', 'approved', { timeout: '1d' })
      const invoked = await context.invoke('child', { workflow: child, body: undefined })
      await context.sleep('nap', '7d')
      const [both, slept] = await Promise.all([
        context.call('ship', { url: 'https://third.test/ship' }),
        context.sleep('rest', '14d'),
        context.waitForEvent('receipt', 'received', { timeout: '1d' }),
      ])
      const hook = await context.createWebhook('hook')
      const { request } = await context.waitForWebhook('posted', hook, '1d')
      return { call, wait, invoked, both, slept, method: request?.method, posted: await request?.json() }
    })
    workflow
      .stubStep('pay')
      .returns({ status: 402, body: { error: 'declined' }, header: { 'Content-Type': ['application/json'] } })
    workflow.stubStep('approval').returns({ by: 'Ada' })
    workflow.stubStep('child').returns({ total: 3 })
    workflow.stubStep('nap').returns()
    workflow.stubStep('ship').returns('on its way')
    workflow.stubStep('rest').returns()
    workflow.stubStep('receipt').timesOut()
    workflow.stubStep('posted').returns({ method: 'PUT', body: { a: 1 } })
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toEqual({
      call: { status: 402, body: { error: 'declined' }, header: { 'Content-Type': ['application/json'] } },
      wait: { eventData: { by: 'Ada' }, timeout: false },
      invoked: { body: { total: 3 }, isFailed: false, isCanceled: false },
      both: { status: 200, body: 'on its way', header: {} },
      method: 'PUT',
      posted: { a: 1 },
    })
    expect(clock.now()).toBe(before)
    expect(traffic.ofType('attempt').map((attempt) => attempt.url)).not.toContain('https://third.test/pay')
    expect(workflow.unused).toEqual([])
    check()
  })

  test.each(["it's", 'quo"te', "', got 'x' from the request", 'Ünïcödé 🚀', 'a\nb', '__proto__', ' '])(
    'accepts any step name: %j',
    async (name) => {
      const { client, serve, workflow } = quiet()
      let ran = 0
      const url = serve('/name', async (context) => (await context.run(name, () => ++ran)) as unknown)
      workflow.stubStep(name).returns('instead')
      const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
      await run.advanceToEnd('success')
      expect([run.result, ran]).toEqual(['instead', 0])
    },
  )
})

describe('stubStep().throws() and timesOut()', () => {
  test('throws a number of times, with the ordinary retries in between', async () => {
    const world = quiet()
    const { client, serve, workflow, destinations, assertInvariants: check } = world
    const ran: number[] = []
    const url = serve('/fails', async (context) => {
      await context.run('reserve', () => 1)
      return context.run('charge', () => ran.push(context.retried))
    })
    workflow.stubStep('charge').throws(new Error('card declined'), { times: 2 })
    const run = workflow.getRun((await client.trigger({ url, retries: 3, retryDelay: '10000' })).workflowRunId)
    await run.advanceToEnd('success')
    expect(ran).toEqual([2])
    expect(attemptsOf(world)).toEqual([
      [0, 200],
      [0, 500],
      [10, 500],
      [20, 200],
      [20, 200],
    ])
    expect(destinations.errors).toEqual([])
    check()
  })

  test('throws always: the run fails as if the body had thrown, and its failure function receives the error', async () => {
    const heard: unknown[] = []
    const { client, serve, workflow, traffic, assertInvariants: check } = quiet()
    const url = serve(
      '/never',
      async (context) => {
        await context.run('charge', () => 'charged')
      },
      { failureFunction: async ({ failStatus, failResponse }) => void heard.push([failStatus, failResponse]) },
    )
    workflow.stubStep('charge').throws('card declined')
    const run = workflow.getRun((await client.trigger({ url, retries: 1 })).workflowRunId)
    await run.advanceToEnd('failed')
    expect(heard).toEqual([[500, 'card declined']])
    const [attempt] = traffic.ofType('attempt')
    expect(attempt!.outcome?.headers).toContainEqual(['upstash-error-step-name', 'charge'])
    expect(JSON.parse(attempt!.outcome!.body)).toMatchObject({ error: 'Error', message: 'card declined' })
    const logs = await client.logs({ workflowRunId: run.id })
    expect(logs.runs[0]!.steps.at(-1)).toMatchObject({
      type: 'next',
      steps: [{ state: 'STEP_FAILED', stepName: 'charge' }],
    })
    check()
  })

  test('throws in a parallel step: only that branch is retried', async () => {
    const { client, serve, workflow, assertInvariants: check } = quiet()
    const ran: string[] = []
    const url = serve('/branch', async (context) => {
      await Promise.all([context.run('a', () => void ran.push('a')), context.run('b', () => void ran.push('b'))])
      return 'done'
    })
    workflow.stubStep('b').throws('no', { times: 1 })
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(ran).toEqual(['a', 'b'])
    check()
  })

  test('throws a non-retryable error, or one with a retry time', async () => {
    const world = quiet()
    const { client, serve, workflow } = world
    const url = serve('/kinds-of-errors', async (context) => {
      await context.run('one', () => 1)
      await context.run('two', () => 2)
    })
    workflow.stubStep('one').throws({ name: 'WorkflowRetryAfterError', message: 'later', retryAfter: 90 }, { times: 1 })
    workflow.stubStep('two').throws({ name: 'WorkflowNonRetryableError', message: 'never' })
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('failed')
    expect(attemptsOf(world).slice(0, 3)).toEqual([
      [0, 429],
      [90, 200],
      [90, 489],
    ])
  })

  test('timesOut() prevents a response of the endpoint', async () => {
    const world = quiet()
    const { client, serve, workflow, clock, assertInvariants: check } = world
    let ran = 0
    const url = serve('/slow', async (context) => context.run('slow', () => ++ran))
    workflow.stubStep('slow').timesOut({ times: 1 })
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(ran).toBe(1)
    expect(attemptsOf(world)[0]![1]).toBe(0)
    expect(clock.now() - before).toBeGreaterThan(60_000)
    check()
  })

  test('throws first, then returns', async () => {
    const { client, serve, workflow, assertInvariants: check } = quiet()
    const url = serve('/chain', async (context) => context.run('charge', () => 'real'))
    workflow.stubStep('charge').returns('instead').throws('no', { times: 2 })
    workflow.skipRetryDelays()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toBe('instead')
    check()
  })
})

describe('stubEvent()', () => {
  const waits = (world: WorkflowWorld): string =>
    world.serve('/waits', async (context) => {
      const { eventData, timeout } = await context.waitForEvent('approval', 'approved', { timeout: '7d' })
      return { eventData, timeout }
    })

  test('sends an event when a run waits for it', async () => {
    const world = quiet()
    const { client, workflow, clock, traffic, assertInvariants: check } = world
    const url = waits(world)
    workflow.stubEvent('approved', { by: 'Ada' })
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toEqual({ eventData: { by: 'Ada' }, timeout: false })
    expect(clock.now()).toBe(before)
    expect(traffic.ofType('notify')).toHaveLength(1)
    check()
  })

  test('sends an event to a run that already waits', async () => {
    const world = quiet()
    const { client, workflow } = world
    const run = workflow.getRun((await client.trigger({ url: waits(world) })).workflowRunId)
    await run.advanceToStep('approval')
    workflow.stubEvent('approved', 'yes')
    await run.advanceToEnd('success')
    expect(run.result).toEqual({ eventData: 'yes', timeout: false })
  })

  test.each([['before'], ['after']])('timesOut() ends a wait, when called %s the wait', async (when) => {
    const world = quiet()
    const { client, workflow, clock } = world
    const url = waits(world)
    if (when === 'before') workflow.stubEvent('approved').timesOut()
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    if (when === 'after') {
      await run.advanceToStep('approval')
      workflow.stubEvent('approved').timesOut()
    }
    await run.advanceToEnd('success')
    expect(run.result).toEqual({ timeout: true })
    expect(clock.now()).toBe(before)
    expect(workflow.unused).toEqual([])
  })

  test('sends each event once, in order', async () => {
    const { client, serve, workflow } = quiet()
    const url = serve('/items', async (context) => {
      const found: unknown[] = []
      for (let index = 0; index < 3; index++)
        found.push((await context.waitForEvent('item', 'item', { timeout: '1d' })).eventData)
      return found
    })
    for (const item of ['a', 'b', 'c']) workflow.stubEvent('item', item)
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(run.result).toEqual(['a', 'b', 'c'])
  })
})

describe('skipping time', () => {
  test('skipSleeps() ends current and future sleeps', async () => {
    const { client, serve, workflow, clock, assertInvariants: check } = quiet()
    const url = serve('/naps', async (context) => {
      await context.sleep('first', '30d')
      await Promise.all([context.sleep('second', '1d'), context.sleepUntil('third', new Date(Date.UTC(2040, 0, 1)))])
      return 'awake'
    })
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToStep('first')
    expect(clock.now()).toBe(before)
    workflow.skipSleeps()
    await run.advanceToEnd('success')
    expect(clock.now()).toBe(before)
    expect(workflow.unused).toEqual([])
    check()
  })

  test('skipRetryDelays() skips delays of steps, of calls and of failure functions', async () => {
    const { client, serve, workflow, clock, destinations, traffic, assertInvariants: check } = quiet()
    const before = clock.now()
    let calls = 0
    destinations.respond('https://third.test/pay', () => (++calls < 3 ? 503 : 200))
    let failures = 0
    const url = serve(
      '/impatient',
      async (context) => {
        await context.call('pay', { url: 'https://third.test/pay', retries: 3 })
        await context.run('break', () => {
          throw new Error('broken')
        })
      },
      {
        failureFunction: async () => {
          if (++failures < 2) throw new Error('again')
        },
      },
    )
    workflow.skipRetryDelays()
    const run = workflow.getRun((await client.trigger({ url, retries: 2 })).workflowRunId)
    await run.advanceToEnd('failed')
    await clock.drain()
    expect(clock.now()).toBe(before)
    expect([calls, failures]).toEqual([3, 2])
    expect(traffic.ofType('attempt').filter(({ retried }) => retried > 0)).toHaveLength(2 + 2 + 1)
    check()
  })

  test('skipRetryDelays() skips current delays', async () => {
    const { client, serve, workflow, clock } = quiet()
    let broken = true
    const url = serve('/later', async (context) =>
      context.run('break', () => {
        if (broken) throw new Error('broken')
        return 'mended'
      }),
    )
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToStep('break')
    broken = false
    const before = clock.now()
    workflow.skipRetryDelays()
    await run.advanceToEnd('success')
    expect(clock.now()).toBe(before)
  })
})

describe('advanceToStep() and advanceToEnd()', () => {
  test('advanceToStep() stops time where the step is reached', async () => {
    const { client, serve, workflow } = quiet()
    const ran: string[] = []
    const url = serve('/far', async (context) => {
      for (const name of ['a', 'b', 'c']) await context.run(name, () => void ran.push(name))
      await context.sleep('nap', '1d')
      await context.run('d', () => void ran.push('d'))
    })
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToStep('b')
    expect(ran).toEqual(['a', 'b'])
    await run.advanceToStep('b')
    await run.advanceToStep('nap')
    expect([ran, run.state]).toEqual([['a', 'b', 'c'], 'RUN_STARTED'])
    await run.advanceToStep('d')
    await run.advanceToEnd()
    expect(run.state).toBe('RUN_SUCCESS')
  })

  test('a misspelled step throws the lifecycle and the nearest name', async () => {
    const { client, serve, workflow } = quiet()
    const url = serve('/misspelt', async (context) => {
      await context.run('charge', () => 'ok')
      await context.sleep('nap', '1h')
    })
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await expect(run.advanceToStep('chrage')).rejects.toThrow(
      /not reach step 'chrage': .*RUN_SUCCESS .*'charge'[\s\S]*1 charge {2}Run, done → "ok"[\s\S]*2 nap {2}SleepFor, done; .*until/,
    )
    await expect(run.advanceToEnd('failed')).rejects.toThrow(/not end with 'failed': .*RUN_SUCCESS/)
  })

  test('a wait for an event that was not sent throws an error without moving time', async () => {
    const { client, serve, workflow, clock } = quiet()
    const url = serve('/unsent', async (context) => {
      await context.waitForEvent('approval', 'approved', { timeout: '7d' })
    })
    const before = clock.now()
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await expect(run.advanceToEnd('success')).rejects.toThrow(
      /event 'approved', .*not sent.*time out in 7d\. .*workflow\.stubEvent\('approved', data\)[\s\S]*1 approval {2}Wait, waiting; .*event approved until/,
    )
    expect(clock.now()).toBe(before)
  })

  test('a failed run throws its error and the reasons of waits', async () => {
    const { client, serve, workflow } = quiet()
    const url = serve('/broken', async (context) => void (await context.run('charge', () => 1)))
    workflow.stubStep('charge').throws(new Error('card declined'))
    const run = workflow.getRun((await client.trigger({ url, retries: 1 })).workflowRunId)
    await expect(run.advanceToEnd('success')).rejects.toThrow(
      /RUN_FAILED .*failed with: card declined[\s\S]*– charge {2}failed, 2 attempts\n.*500 card declined.*; waits until .*: .*\n.*500 card declined/,
    )
  })

  test.each(['auto', 'real'] as const)('work with clock: %s, where time moves automatically', async (clock) => {
    const { client, serve, workflow } = quiet({ clock })
    const url = serve('/itself', async (context) => {
      await context.run('a', () => 1)
      await context.sleep('nap', clock === 'auto' ? '1d' : 1)
      return context.run('b', () => 2)
    })
    workflow.stubStep('b').returns(3)
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToStep('nap')
    await run.advanceToEnd('success')
    expect(run.result).toBe(3)
  })
})

describe('probes of stubs', () => {
  test('are not sent without stubs', async () => {
    const { client, serve, workflow, asked: calls } = quiet()
    const url = serve('/plain', async (context) => void (await context.run('a', () => 1)))
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(calls).toHaveLength(2)
  })

  test('leave no trace: the traffic is the same, except for the stubbed step', async () => {
    const told = async (verb: boolean): Promise<string[]> => {
      const { client, serve, workflow, clock, traffic, destinations } = quiet()
      const recorder = destinations.record('https://app.test/*')
      const url = serve('/same', async (context) => {
        await context.run('a', () => 'A')
        const b = await context.run('b', () => 'B')
        await context.sleep('nap', 60)
        return context.run('c', () => b)
      })
      if (verb) workflow.stubStep('b').returns('B')
      const run = workflow.getRun((await client.trigger({ url, workflowRunId: 'same' })).workflowRunId)
      await run.advanceToEnd('success')
      await clock.drain()
      const steps = traffic
        .ofType('step')
        .map(({ stepId, stepName, stepType, at }) => `${stepId} ${stepName} ${stepType} ${at}`)
      const attempts = traffic
        .ofType('attempt')
        .map(({ at, retried, outcome }) => `${at} ${retried} ${outcome?.status}`)
      const bodies = recorder.requests.map(({ body }) =>
        (JSON.parse(body) as { body: string }[]).map((one) => atob(one.body)).join(),
      )
      return [...steps, ...attempts, ...bodies, JSON.stringify(run.result)]
    }
    expect(await told(true)).toEqual(await told(false))
  })

  test('do not count as attempts', async () => {
    const { client, serve, workflow, traffic } = quiet()
    const url = serve('/retried', async (context) => {
      await context.run('a', () => 'A')
      return context.run('b', () => 'B')
    })
    workflow.stubStep('b').throws(new Error('not yet'), { times: 2 })
    const run = workflow.getRun((await client.trigger({ url, workflowRunId: 'retried' })).workflowRunId)
    await run.advanceToEnd('success')
    const attempts = traffic.ofType('attempt') as unknown as Attempt[]
    expect(attempts.some(({ retried }) => retried === 2)).toBe(true)
    for (const { number, retried } of attempts) expect(number).toBe(retried + 1)
  })

  test('are muted in the console, and nothing else is', async () => {
    const { client, serve, workflow } = quiet()
    const told = vi.mocked(console.error)
    const url = serve('/silent', async (context) => {
      await context.run('a', () => console.error('of the app'))
      await Promise.all([context.run('b', () => 1), context.run('c', () => 2)])
      await context.waitForEvent('d', 'evt')
      await context.run('e', () => {
        throw new Error('of a step')
      })
    })
    workflow.stubStep('a').throws(new Error('scripted'), { times: 1 })
    workflow.stubStep('b').returns(3)
    workflow.stubStep('nobody')
    workflow.stubEvent('evt')
    const run = workflow.getRun((await client.trigger({ url, retries: 1 })).workflowRunId)
    await run.advanceToEnd('failed')
    const lines = told.mock.calls.map(([line]) => String(line).replace(/^.*?: /, ''))
    expect(lines[0]).toBe('of the app')
    expect(lines.slice(1)).toEqual(
      ['Error in workflow run', 'Error in workflow run'].map(() => expect.stringMatching('of a step')),
    )
    // The console has its own function again.
    expect(console.error).toBe(told)
  })

  test('are signed, as every delivery is', async () => {
    const world = quiet()
    const { client, queue, serve, workflow } = world
    const { current, next } = queue.signingKeys
    const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next })
    const refused: unknown[] = []
    world.around = async ({ headers, body, path, answer }) => {
      const signature = headers.get('upstash-signature')!
      await receiver
        .verify({ signature, body, url: `https://app.test${path}`, clockTolerance: 1e9 })
        .catch((error: unknown) => refused.push(error))
      return answer()
    }
    const url = serve('/signed', async (context) => {
      await context.run('a', () => 1)
      await Promise.all([context.run('b', () => 2), context.run('c', () => 3)])
      await context.run('d', () => 4)
    })
    for (const step of ['a', 'b', 'd']) workflow.stubStep(step).returns(5)
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(world.asked.length).toBeGreaterThan(5)
    expect(refused).toEqual([])
  })

  test('deliver once to a route that ends, or fails before its step', async () => {
    const { client, serve, workflow, asked: calls } = quiet()
    const url = serve('/fails-early', async (context) => {
      await context.run('a', () => 1)
      throw new Error('outside of steps')
    })
    workflow.stubStep('a').returns(1)
    const run = workflow.getRun((await client.trigger({ url, retries: 0 })).workflowRunId)
    await run.advanceToEnd('failed')
    expect(calls.filter(({ body }) => body.includes('outside of steps'))).toHaveLength(1)
  })

  test('do not submit what a route does after catching an error', async () => {
    const { client, serve, workflow, traffic } = quiet()
    const url = serve('/catches', async (context) => {
      try {
        await context.run('charge', () => 1)
      } catch (error) {
        if ((error as Error).name === 'WorkflowAbort') throw error
        await context.run('refund', () => 1)
      }
    })
    workflow.stubStep('other').returns(1)
    const run = workflow.getRun((await client.trigger({ url })).workflowRunId)
    await run.advanceToEnd('success')
    expect(traffic.ofType('step').map(({ stepName }) => stepName)).toEqual(['charge'])
  })

  test('deliver once to a route that is not a workflow', async () => {
    const { client, workflow, destinations } = quiet()
    let arrived = 0
    destinations.on('https://app.test/none', () => {
      arrived++
      return new Response('hello')
    })
    workflow.stubStep('a').returns(1)
    const run = workflow.getRun((await client.trigger({ url: 'https://app.test/none' })).workflowRunId)
    await run.advanceToEnd('failed')
    // And one that reports the failure.
    expect(arrived).toBe(2)
  })
})

describe('unused stubs', () => {
  test('are listed with the nearest name', async () => {
    const { client, serve, workflow } = quiet()
    const url = serve('/unused', async (context) => {
      await context.run('charge', () => 1)
      await context.waitForEvent('approval', 'approved', { timeout: '1s' })
    })
    workflow.stubStep('chrage').returns(1)
    workflow.stubStep('charge', 2).throws()
    workflow.stubEvent('aproved', 1)
    workflow.skipSleeps()
    workflow.skipRetryDelays()
    await client.trigger({ url })
    await workflow.runs[0]!.advanceToStep('approval')
    expect(workflow.unused).toEqual([
      expect.stringMatching(/^workflow\.stubStep\('chrage'\)\.returns\(…\) .*never used: .*'chrage' .*'charge'\.$/),
      expect.stringMatching(/^workflow\.stubStep\('charge', 2\)\.throws\(…\) .*never used: .*'charge' number 2\.$/),
      expect.stringMatching(/^workflow\.stubEvent\('aproved'\) .*never used: .*'aproved'.* 'approved'\.$/),
      expect.stringMatching(/^workflow\.skipSleeps\(\) .*never used: .*\bslept/),
      expect.stringMatching(/^workflow\.skipRetryDelays\(\) .*never used: .*\bretried/),
    ])
  })

  test('are removed by a reset', () => {
    const world = quiet()
    world.workflow.stubStep('charge').returns(1)
    world.reset()
    expect(world.workflow.unused).toEqual([])
  })
})

test.each<[string, (workflow: WorkflowWorld['workflow']) => unknown]>([
  ["workflow.stubStep(): the first argument must be the name of a step (got '').", (workflow) => workflow.stubStep('')],
  [
    "nth must be a whole number from 1 (got 0). It selects one of the steps named 'a'.",
    (workflow) => workflow.stubStep('a', 0),
  ],
  [
    "workflow.stubStep('a').returns(): JSON cannot represent the value (got a function).",
    (workflow) => workflow.stubStep('a').returns(() => 1),
  ],
  [
    "workflow.stubStep('a').returns(): JSON cannot represent the value: ",
    (workflow) => workflow.stubStep('a').returns(1n),
  ],
  [
    "workflow.stubStep('a').throws(): times must be a whole number from 1 (got 0).",
    (workflow) => workflow.stubStep('a').throws('no', { times: 0 }),
  ],
  [
    "workflow.stubStep('a').throws(): the argument must be an Error, a message, or { name, message }",
    (workflow) => workflow.stubStep('a').throws(7 as never),
  ],
  [
    "workflow.stubEvent(): the first argument must be the ID of an event (got '').",
    (workflow) => workflow.stubEvent(''),
  ],
  ["workflow.stubEvent('a', …): JSON cannot represent the value", (workflow) => workflow.stubEvent('a', () => 1)],
])('an invalid argument throws: %s', (sentence, call) => {
  expect(() => call(quiet().workflow)).toThrow(sentence)
})
