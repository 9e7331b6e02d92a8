import { Client as QueueClient } from '@upstash/qstash'
import { Client, type WorkflowContext } from '@upstash/workflow'
import { createWorkflow, serveMany } from '@upstash/workflow/nextjs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertCrashSafe, CrashSafetyError, type WorkflowUnderTest } from '../../packages/explore/src/checks.js'
import { runs } from '../support/effort.js'
import { calls, mails, payments } from './crash-defects.js'

// Random workflows with every kind of step. Each external effect counts once, however often it is repeated, so the
// check must not fail. With an additional effect in one of the bodies that counts each time, the check must fail.

const effects = ['write', 'publish', 'charge'] as const
type Effect = (typeof effects)[number]

type Kind =
  | { readonly kind: 'run'; readonly effects: readonly Effect[]; readonly fails: boolean }
  | { readonly kind: 'parallel'; readonly branches: readonly (Effect | 'sleep')[] }
  | { readonly kind: 'sleep' | 'call' | 'event' | 'invoke' | 'webhook' }

interface Planted {
  readonly at: number
  readonly effect: Effect
}

const base = 'https://shop.test/api'
const tell = 'https://tell.test/now'

const effect = fc.constantFrom(...effects)
const kinds: fc.Arbitrary<Kind> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constant('run' as const), effects: fc.uniqueArray(effect), fails: fc.boolean() }),
    weight: 3,
  },
  fc.record({
    kind: fc.constant('parallel' as const),
    branches: fc.array(fc.oneof(effect, fc.constant('sleep' as const)), { minLength: 2, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constantFrom('sleep' as const, 'call', 'event', 'invoke', 'webhook') }),
)

/** The app: steps by their position. Each effect has its own key, except for the planted one. */
function appOf(steps: readonly Kind[], planted?: Planted): WorkflowUnderTest {
  return (sandbox) => {
    const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
    const queue = new QueueClient(connection)
    const client = new Client(connection)
    const later = (key: string, body: object) =>
      queue.publishJSON({ url: tell, body, delay: 5, deduplicationId: `tell-${key}` })
    const does = {
      write: async (key: string) => void sandbox.store.run('HSET', 'written', key, '1'),
      publish: async (key: string) =>
        void (await queue.publishJSON({ url: mails, body: { key }, deduplicationId: key })),
      charge: async (key: string) =>
        void (await fetch(payments, { method: 'POST', body: key, headers: { 'idempotency-key': key } })),
      sleep: async () => {},
    }
    const plant = {
      write: async () => void sandbox.store.run('INCR', 'counted'),
      publish: async () => void (await queue.publishJSON({ url: mails, body: 'once more' })),
      charge: async () => void (await fetch(payments, { method: 'POST', body: 'once more' })),
    }
    const also = async (at: number): Promise<void> => {
      if (planted?.at === at) await plant[planted.effect]()
    }
    const child = createWorkflow(async (context: WorkflowContext<string>) => {
      const key = context.requestPayload
      return await context.run('inner', async () => {
        await also(Number(key))
        await does.write(`child ${key}`)
        return key
      })
    })
    const main = createWorkflow(async (context: WorkflowContext<unknown>) => {
      for (const [at, step] of steps.entries()) {
        if (step.kind === 'run') {
          await context.run(`run ${at}`, async () => {
            for (const one of step.effects) await does[one](`${at} ${one}`)
            await also(at)
            if (step.fails && Number(sandbox.store.run('SADD', 'failed', at)) === 1) throw new Error('once')
          })
        } else if (step.kind === 'parallel') {
          await Promise.all(
            step.branches.map((branch, nth) =>
              branch === 'sleep'
                ? context.sleep(`nap ${at}.${nth}`, nth + 1)
                : context.run(`branch ${at}.${nth}`, async () => {
                    await does[branch](`${at} ${nth}`)
                    if (nth === step.branches.findIndex((one) => one !== 'sleep')) await also(at)
                  }),
            ),
          )
        } else if (step.kind === 'sleep') await context.sleep(`sleep ${at}`, '1h')
        else if (step.kind === 'call') {
          const headers = { 'idempotency-key': `call ${at}` }
          await context.call(`call ${at}`, { url: `https://third.test/${at}`, method: 'POST', headers })
        } else if (step.kind === 'event') {
          const { workflowRunId } = context
          await context.run(`ask ${at}`, () => later(`${at}`, { eventId: `event ${at}`, workflowRunId }).then(() => {}))
          await context.waitForEvent(`event ${at}`, `event ${at}`, { timeout: '1d' })
        } else if (step.kind === 'invoke') {
          await context.invoke(`invoke ${at}`, { workflow: child, body: String(at) } as never)
        } else {
          const hook = await context.createWebhook(`hook ${at}`)
          await context.run(`give ${at}`, () => later(`${at}`, { hook: hook.webhookUrl }).then(() => {}))
          await context.waitForWebhook(`hooked ${at}`, hook, '1d')
        }
      }
      return steps.length
    })
    const { POST } = serveMany({ main, child } as never, { qstashClient: queue, receiver: undefined as never } as never)
    sandbox.destinations.on(`${base}/*`, POST as unknown as (request: Request) => Promise<Response>)
    sandbox.destinations.respond(mails, 200)
    sandbox.destinations.respond('https://third.test/*', 200)
    sandbox.destinations.on(tell, async (request) => {
      const { hook, ...event } = (await request.json()) as { hook?: string; eventId: string; workflowRunId: string }
      await (hook === undefined ? client.notify({ ...event, eventData: 'yes' }) : fetch(hook, { method: 'POST' }))
      return new Response()
    })
    return () => client.trigger({ url: `${base}/main` })
  }
}

const workflows = fc.array(kinds, { minLength: 1, maxLength: 3 })

test('assertCrashSafe() accepts effects that count once', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(workflows, async (steps) => {
      const {
        notTried: untried,
        plans: schedules,
        deliveries,
      } = await assertCrashSafe(appOf(steps), { outbound: calls })
      expect(untried).toBe(0)
      expect(schedules).toBeGreaterThanOrEqual(7 * deliveries - 8 * steps.length)
    }),
    {
      numRuns: runs(5, 5, 50),
      examples: [
        // The step after two branches makes the same random decision, whichever branch ends last.
        [[{ kind: 'parallel', branches: ['sleep', 'write'] }, { kind: 'webhook' }]],
      ],
    },
  )
})

test('assertCrashSafe() finds an effect that counts each time in any step', { timeout: 300_000 }, async () => {
  const holdsBody = ({ kind, ...step }: Kind): boolean =>
    kind === 'run' ||
    kind === 'invoke' ||
    (step as { branches?: string[] }).branches?.some((one) => one !== 'sleep') === true
  const planted = workflows
    .filter((steps) => steps.some(holdsBody))
    .chain((steps) =>
      fc.record({
        steps: fc.constant(steps),
        at: fc.constantFrom(...[...steps.entries()].filter(([, step]) => holdsBody(step)).map(([at]) => at)),
        effect,
      }),
    )
  await fc.assert(
    fc.asyncProperty(planted, async ({ steps, ...where }) => {
      const found = await assertCrashSafe(appOf(steps, where), { outbound: calls }).catch((error) => error)
      expect(found).toBeInstanceOf(CrashSafetyError)
      expect((found as CrashSafetyError).message).toMatch(/counted = "\d"|once more/)
    }),
    { numRuns: runs(5, 5, 50) },
  )
})
