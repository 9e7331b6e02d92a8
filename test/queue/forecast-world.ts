import fc from 'fast-check'
import { createSandbox, type Policy, type Sandbox } from 'stuntdouble'
import { engineOf } from '../../src/queue/queue-internals.js'
import { createSchedule } from '../../src/scenarios/actions.js'

// Random sandboxes in which messages wait for each other, with the responses of their destinations.

/** Response: a status after some seconds, optionally with a requested delay. */
export interface ScriptedAnswer {
  readonly status: number
  readonly seconds: number
  readonly retryAfter?: number | undefined
}

export const answers: fc.Arbitrary<ScriptedAnswer> = fc.record({
  status: fc.constantFrom(200, 200, 200, 500, 429, 489),
  seconds: fc.constantFrom(0, 0, 0, 1, 3, 10, 40),
  retryAfter: fc.constantFrom(undefined, undefined, 0, 2, 10),
})

const keys = fc.constantFrom('a', 'b')
const limits = fc.constantFrom(
  'rate=1, period=10s',
  'rate=2, period=10s',
  'rate=3, period=7s',
  'parallelism=1',
  'parallelism=2',
  'parallelism=2, rate=3, period=10s',
  'rate=50',
)

const options = fc.record(
  {
    retries: fc.nat(2),
    retryDelay: fc.constantFrom('1000', '5000 * (1 + retried)'),
    delay: fc.constantFrom('1s', '5s', '10s', '20s', '1m'),
    callback: fc.constant('https://reports.test/cb'),
    callbackFlowControlKey: keys,
    callbackFlowControlValue: limits,
    callbackDelay: fc.constantFrom('1s', '10s'),
    failureCallback: fc.constant('https://reports.test/failed'),
    flowControlKey: keys,
    flowControlValue: limits,
    queue: fc.constantFrom('one', 'two'),
    timeout: fc.constantFrom('5s', '30s'),
  },
  { requiredKeys: ['retries', 'timeout'] },
)

export const acts = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ act: fc.constant('publish' as const), options, times: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constant('advance' as const), seconds: fc.constantFrom(0, 0.5, 1, 4, 10, 33) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constantFrom('pause queue', 'resume queue'), name: fc.constantFrom('one', 'two') }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('pause key', 'resume key', 'reset rate'), name: keys }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('pin' as const), name: keys, rate: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('widen' as const),
      name: fc.constantFrom('one', 'two'),
      slots: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('cancel', 'release'), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('retry dead letter' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('schedule' as const),
      id: fc.constantFrom('s', 't'),
      cron: fc.constantFrom('* * * * *', '*/2 * * * *'),
      options,
      paused: fc.boolean(),
    }),
  },
)
export type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never

export const policies: fc.Arbitrary<Partial<Policy>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        flowControlOrder: fc.constant('shuffled' as const),
        cancelTiming: fc.constant('immediate' as const),
        retryHeadersOverrideExpression: fc.constant(false),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.constant({ enforceQuotas: true, queueLimits: { globalParallelism: 2 } }) },
)

export function worldOf(script: readonly ScriptedAnswer[], policy: Partial<Policy>, seed: number): Sandbox {
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', policy, seed, onWarning: () => undefined })
  answerFrom(sandbox, script)
  return sandbox
}

function answerFrom(sandbox: Sandbox, script: readonly ScriptedAnswer[]): void {
  let calls = 0
  sandbox.destinations.respond('*', async (_delivery, task) => {
    const { status, seconds, retryAfter } = script[calls++ % script.length]!
    if (seconds > 0) await task.sleep(seconds * 1000)
    const headers: Record<string, string> = status === 489 ? { 'Service-NonRetryable-Error': 'true' } : {}
    return { status, headers: { ...headers, ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }) } }
  })
}

/** Resources that all actions share; the name of a resource determines which kind it is. */
interface Fields {
  readonly act: string
  readonly times: number
  readonly options: object
  readonly seconds: number
  readonly name: string
  readonly rate: number
  readonly slots: number
  readonly id: string
  readonly cron: string
  readonly paused: boolean
  readonly which: number
}

/** Performs one action. Requests that the sandbox rejects have no effect. */
export async function perform(given: Act, sandbox: Sandbox): Promise<void> {
  const { queue, clock } = sandbox
  const { flow } = engineOf(queue)
  const act = given as unknown as Fields
  try {
    if (act.act === 'publish')
      for (let n = 0; n < act.times; n++) queue.publish({ to: 'https://shop.test/orders', ...act.options })
    else if (act.act === 'advance') await clock.advance(act.seconds * 1000)
    else if (act.act === 'pause queue') queue.pauseQueue(act.name)
    else if (act.act === 'resume queue') queue.resumeQueue(act.name)
    else if (act.act === 'pause key') flow.pause(act.name)
    else if (act.act === 'resume key') flow.resume(act.name)
    else if (act.act === 'reset rate') flow.resetRate(act.name)
    else if (act.act === 'pin') flow.pin(act.name, { rate: act.rate })
    else if (act.act === 'widen') queue.upsertQueue(act.name, { parallelism: act.slots })
    else if (act.act === 'retry dead letter') {
      const [letter] = queue.deadLetters
      if (letter !== undefined) queue.retryDeadLetter(letter.id)
    } else if (act.act === 'schedule') {
      createSchedule(
        {
          id: act.id,
          cron: act.cron,
          to: 'https://shop.test/tick',
          paused: act.paused,
          ...act.options,
        } as never,
        sandbox,
      )
    } else {
      const { messages } = queue
      const message = messages[act.which % Math.max(1, messages.length)]
      if (message !== undefined) act.act === 'cancel' ? queue.cancel(message.id) : queue.deliverNow(message.id)
    }
  } catch (error) {
    if (!(error instanceof Error) || /is not a function|undefined/.test(error.message)) throw error
  }
}
