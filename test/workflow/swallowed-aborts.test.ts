import { Client as QueueClient } from '@upstash/qstash'
import { serve as serveBefore } from '@upstash/qstash/nextjs'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { swallowedAborts } from '../../matchers/failure/aborts.js'
import { sandboxMatchers } from '../../matchers/index.js'
import { evidenceOf } from '../../matchers/received.js'
import { fault } from '../../src/index.js'
import { failureOf } from '../matchers/failure.js'
import { runs, seedOr } from '../support/effort.js'
import { plans, routeOf, third } from './random-routes.js'
import { app, type Loose, type WorkflowWorld, workflowWorld } from './world.js'

// "You should not wrap context.run/sleep/sleepUntil/call methods with try/catch" and "make sure that you await each
// step":
// the text of WorkflowAbort, and the first mistake on the vendor's troubleshooting page.

expect.extend(sandboxMatchers as never)
const about = expect as (received: unknown) => Loose
const url = `${app}/order`
const first = (context: Loose): Promise<unknown> => context.run('charge', () => 'paid')
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Returns what the log proves about deliveries to the endpoint. */
const proven = (world: WorkflowWorld): string[] => swallowedAborts(evidenceOf('toHaveWorkflowStep', world, 'sandbox'))

type Serve = (world: WorkflowWorld, route: (context: Loose) => Promise<unknown>) => Promise<unknown>

/** Both packages of the vendor that serve workflows. In the older one a first call starts the run. */
const sdks: Readonly<Record<string, Serve>> = {
  '@upstash/workflow': (world, route) => {
    world.serve('/order', route)
    return world.client.trigger({ url, workflowRunId: 'one', retries: 0 })
  },
  '@upstash/qstash': (world, route) => {
    const connection = { baseUrl: world.urls.queue, token: world.tokens.queue }
    const qstashClient = new QueueClient(connection)
    const handler = serveBefore(route as never, {
      qstashClient,
      receiver: undefined as never,
      retries: 0,
    })
    world.destinations.on(url, handler as Loose)
    return qstashClient.publish({ url, retries: 0 })
  },
}

async function ran(route: (context: Loose) => Promise<unknown>, serve: Serve): Promise<WorkflowWorld> {
  const world = workflowWorld()
  world.destinations.respond(third, 200)
  await serve(world, route)
  await world.clock.drain()
  return world
}

/** Routes, the step whose WorkflowAbort was lost, and what the delivery did afterwards. */
const mistakes: Readonly<
  Record<string, readonly [route: (context: Loose) => Promise<unknown>, step: string, then: RegExp]>
> = {
  'a step in try/catch, which returns': [
    async (context) => {
      await first(context)
      try {
        await context.run('stock', () => 'reserved')
      } catch {
        return 'out of stock'
      }
      await context.run('mail', () => 'sent')
    },
    'stock',
    /ended run .*try\/catch.*WorkflowAbort/,
  ],
  'a sleep in try/catch': [
    async (context) => {
      await first(context)
      await context.sleep('nap', 5).catch(() => {})
    },
    'nap',
    /ended run /,
  ],
  'a call in try/catch': [
    async (context) => {
      await first(context)
      // The older package takes a list of arguments.
      await context.call('bank', ...(context.call.length > 2 ? [third, 'POST'] : [{ url: third }])).catch(() => {})
    },
    'bank',
    /ended run /,
  ],
  'a wait in try/catch': [
    async (context) => {
      await first(context)
      await context.waitForEvent('approval', 'approved').catch(() => {})
    },
    'approval',
    /ended run /,
  ],
  'several steps in Promise.allSettled()': [
    async (context) => {
      await first(context)
      await Promise.allSettled([context.run('stock', () => 1), context.run('mail', () => 2)])
    },
    'stock',
    /ended run .*Promise\.allSettled/,
  ],
  'a step in try/catch, and another one': [
    async (context) => {
      await first(context)
      await context.run('stock', () => 1).catch(() => {})
      await context.run('mail', () => 2)
    },
    'stock',
    /submitted step 'mail'/,
  ],
  'a step in finally': [
    async (context) => {
      await first(context)
      try {
        await context.run('stock', () => 1)
      } finally {
        await context.run('unlock', () => 2)
      }
    },
    'stock',
    /submitted step 'unlock'.*finally/,
  ],
  'a step that is not awaited': [
    async (context) => {
      await first(context)
      context.run('mail', () => 1).catch(() => {})
    },
    'mail',
    /ended.*not awaited/,
  ],
}

describe.each(Object.entries(sdks))('%s', (sdk, serve) => {
  const known = Object.entries(mistakes).filter(([name]) => sdk !== '@upstash/qstash' || !name.startsWith('a wait'))
  test.each(known)('%s: the delivery that submitted the step did more', async (_, [route, step, then]) => {
    const world = await ran(route, serve)
    const [sentence = '', ...others] = proven(world)
    expect(sentence.toLowerCase()).toContain(`step '${step}'`)
    expect(sentence).toMatch(then)
    expect(others).toEqual([])
    const assertions = [
      () => about(world).toHaveWorkflowStep('never'),
      () => about(world).toHaveWorkflowRun({ result: 'never' }),
      () => about(world).toHaveWorkflowWait('never'),
      () => about(world).not.toHaveWorkflowRun(),
      () => about(world.queue).toHaveDelivered({ to: 'https://never.test' }),
      () => about(world.store).toHaveKey('never'),
    ]
    for (const assertion of assertions) {
      const text = failureOf(assertion)
      expect(text.split(sentence)).toHaveLength(2)
      // The numbers refer to the timeline, while a run is shown in another form.
      const [above = '', story = ''] = text.split(/^Replay: .*$/m)
      const named = [...above.matchAll(/#(\d+)\b/g)].map(([, seq]) => seq)
      expect(named.length).toBeGreaterThan(1)
      for (const seq of named) expect(story).toMatch(new RegExp(`^ +#${seq}  `, 'm'))
      expect(text.split('\n').length).toBeLessThanOrEqual(40)
    }
  })
})

test('a step after the end of its run is reported as not awaited, and nothing else', async () => {
  const world = workflowWorld()
  const late: Promise<unknown>[] = []
  world.serve('/order', async (context: Loose) => {
    await first(context)
    late.push(context.run('mail', soon).catch(() => {}))
  })
  await world.client.trigger({ url, retries: 0 })
  await world.clock.drain()
  await Promise.all(late)
  await soon()
  const sentences = proven(world)
  expect(sentences).toEqual([expect.stringMatching(/^Step 'mail' .* after run .* had ended .* not awaited/)])
  expect(sentences[0]).not.toContain('try/catch')
})

test('a route that ends before its first step is reported: it returned, or caught what the step throws', async () => {
  for (const route of [
    async () => 'nothing to do',
    (context: Loose) => first(context).catch(() => 'out of stock'),
    async (context: Loose) => void first(context).catch(() => {}),
  ]) {
    const world = await ran(route, sdks['@upstash/workflow']!)
    expect(proven(world)).toEqual([expect.stringMatching(/before its first step.*400/)])
    expect(failureOf(() => about(world).toHaveWorkflowRun({ state: 'success' }))).toContain(proven(world)[0])
  }
})

test('a route with this mistake is reported once per run, however often it is called', async () => {
  const world = workflowWorld()
  world.serve('/order', async () => 'nothing to do')
  await world.client.trigger({ url, workflowRunId: 'one', retries: 2 })
  await world.client.trigger({ url, workflowRunId: 'two', retries: 0 })
  await world.clock.drain()
  expect(proven(world)).toEqual([
    expect.stringMatching(/run wfr_one .* in 3 attempts \(first: #\d+\)/),
    expect.stringMatching(/run wfr_two .* responded with 400 \(#\d+\)/),
  ])
})

/** Makes a delivery fail after it has submitted a step: in code of the route, or in code around it. */
const failures: Readonly<Record<string, (context: Loose) => Promise<unknown>>> = {
  'a catch that throws another error': (context) =>
    context.run('stock', () => 1).catch(() => Promise.reject(new Error('out of stock'))),
  'code around the route': (context) => context.run('stock', () => 1),
}

test.each(Object.entries(failures))(
  'no cause is given for a delivery that failed after submitting a step: %s',
  async (name, then) => {
    const world = workflowWorld()
    world.serve('/order', async (context: Loose) => {
      await first(context)
      await then(context)
    })
    let calls = 0
    world.around = async ({ answer }) => {
      const given = await answer()
      if (++calls !== 2 || name !== 'code around the route') return given
      return Response.json({ error: 'Internal Server Error', message: 'out of stock' }, { status: 500 })
    }
    await world.client.trigger({ url, retries: 0 })
    await world.clock.drain()
    expect(proven(world)).toEqual([])
    expect(failureOf(() => about(world).toHaveWorkflowRun({ state: 'success' }))).toMatch(/failed .*: 500 out of stock/)
  },
)

test('no hint is given for another cause, or an unproven one: an endpoint that fails, an attempt without a response', async () => {
  const failing = await ran(async (context) => {
    await first(context)
    await context.run('stock', () => Promise.reject(new Error('out of stock')))
  }, sdks['@upstash/workflow']!)
  expect(proven(failing)).toEqual([])

  // The handler continues after its attempt was given up.
  const world = workflowWorld()
  world.serve('/order', mistakes['a step in try/catch, which returns']![0])
  world.destinations.script(url, [fault.lostAck()])
  await world.client.trigger({ url, retries: 1 })
  await world.clock.drain()
  expect(proven(world)).toEqual([])
})

/** Faults around a workflow: deliveries, responses and requests of its endpoint that are lost or duplicated. */
const faults = [
  undefined,
  { on: 'queue.delivery', fault: fault.lostAck() },
  { on: 'queue.delivery', fault: fault.status(500) },
  { on: 'queue.delivery', fault: fault.duplicate() },
  { on: 'queue.request', fault: fault.lostAck() },
  { on: 'queue.request', fault: fault.status(500) },
] as const

test('workflows without a mistake get no hint, with any faults around them', async () => {
  await fc.assert(
    fc.asyncProperty(plans, fc.constantFrom(...faults), fc.nat(8), fc.boolean(), async (plan, fault, skip, isSlow) => {
      const world = workflowWorld()
      if (isSlow) world.lag = '3s'
      world.destinations.respond(third, 200)
      const connection = {
        baseUrl: world.urls.queue,
        token: world.tokens.queue,
        retry: { retries: 2, backoff: () => 1 },
      }
      const child = createWorkflow((context: Loose) => context.run('inner', () => 1))
      const main = createWorkflow<unknown, unknown>(routeOf(plan, { child }))
      const qstashClient = new QueueClient(connection) as never
      const { POST } = serveMany({ main, child } as never, { qstashClient, receiver: undefined as never } as never)
      world.destinations.on(`${app}/*`, async (request, task) => {
        const response = await (POST as Loose)(request)
        if (isSlow) await task.sleep('3s')
        return response
      })
      await world.client.trigger({ url: `${app}/main`, workflowRunId: 'one', retries: 3 })
      if (fault !== undefined) world.faults.add({ ...fault, skip, times: 2 })
      for (let hour = 0; hour < 20; hour++) {
        await world.clock.advance('10m')
        world.workflow.notify('told', { by: 'Ada' })
      }
      await world.clock.drain()
      expect(world.workflow.runs.length).toBeGreaterThan(0)
      expect(proven(world)).toEqual([])
      world.dispose()
    }),
    { numRuns: runs(25, 300, 3000), seed: seedOr(34) },
  )
})
