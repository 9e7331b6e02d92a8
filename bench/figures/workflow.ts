// Cost of a workflow run, over the same number of plain messages, each published by the handler of the previous one.
import { Client as QueueClient } from '@upstash/qstash'
import { Client } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import { createSandbox, type Sandbox } from 'stuntdouble'
import { assertCrashSafe } from 'stuntdouble/checks'
import { replaceFetch } from 'stuntdouble/fetch'
import type { Figure, Variant } from '../harness.ts'

const url = 'https://app.test/workflow'
const start = Date.UTC(2030, 0, 1)
const steps = 10

type Bytes = Parameters<Sandbox['exchange']>[0] extends { body(): infer Body } ? Exclude<Body, Promise<unknown>> : never

function send(
  sandbox: Sandbox,
  path: string,
  body: string,
  headers: readonly (readonly [string, string])[] = [],
): void {
  const answer = sandbox.exchange({
    method: 'POST',
    url: `${sandbox.urls.queue}${path}`,
    headers: [['authorization', `Bearer ${sandbox.tokens.queue}`], ['content-type', 'application/json'], ...headers],
    body: () => body as Bytes,
  })
  if (answer instanceof Promise || answer.status > 299) throw new Error(`${path} was not answered`)
}

/** Each message is published by the handler of the previous one, which received a signed message and read its body. */
const messages: Variant = {
  name: 'ten messages',
  async run(times) {
    const sandbox = createSandbox({ startAt: start, policy: { maxTrafficEntries: 0 } })
    sandbox.destinations.respond(url, (attempt) => {
      void attempt.headers
      const { step } = JSON.parse(attempt.text()) as { step: number }
      if (step < steps) send(sandbox, `/v2/publish/${url}`, JSON.stringify({ step: step + 1 }))
      return 200
    })
    for (let count = 0; count < times; count++) {
      send(sandbox, `/v2/publish/${url}`, '{"step":1}')
      await sandbox.clock.drain()
    }
    sandbox.dispose()
  },
}

const protocol = {
  'service-method': 'POST',
  'content-type': 'application/json',
  'service-workflow-url': url,
  'service-workflow-sdk-version': '1',
  'service-feature-set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
  'service-forward-service-workflow-sdk-version': '1',
}

function batch(runId: string, init: boolean, body: string, more: Readonly<Record<string, string>> = {}): string {
  const headers = { ...protocol, 'service-workflow-init': String(init), 'service-workflow-runid': runId, ...more }
  return JSON.stringify([{ destination: url, headers, body }])
}

/** The recorded submissions of the SDK, without the SDK, whose own time is not measured. */
function runs(name: string, sleep?: string): Variant {
  return {
    name,
    async run(times) {
      const sandbox = createSandbox({ startAt: start, policy: { maxTrafficEntries: 0 } })
      sandbox.destinations.respond(url, (attempt) => {
        const done = (JSON.parse(attempt.text()) as unknown[]).length
        const runId = attempt.header('service-workflow-runid')!
        if (done <= steps) {
          const step = { stepId: done, stepName: `step ${done}`, stepType: 'Run', out: '1', concurrent: 1 }
          const asleep = sleep !== undefined && done === 5 ? { 'service-delay': sleep } : {}
          send(sandbox, '/v2/batch', batch(runId, false, JSON.stringify(step), asleep))
        } else {
          sandbox.exchange({
            method: 'DELETE',
            url: `${sandbox.urls.queue}/v2/workflows/runs/${runId}?cancel=false`,
            headers: [['authorization', `Bearer ${sandbox.tokens.queue}`]],
            body: () => '"done"' as Bytes,
          })
        }
        return { status: 200, headers: { 'service-workflow-sdk-version': '1', 'service-workflow-sdk': 'v1.3.3' } }
      })
      for (let count = 0; count < times; count++) {
        send(sandbox, '/v2/batch', batch(`wfr_${count}`, true, '{"order":1}'))
        await sandbox.clock.drain()
      }
      if (sandbox.workflow.getRun(`wfr_${times - 1}`).state !== 'RUN_SUCCESS')
        throw new Error('the run did not end well')
      sandbox.dispose()
    },
  }
}

function tenSteps(): Figure {
  return {
    name: 'a run of ten steps over ten messages, each published by a handler, delivered and answered',
    baseline: messages,
    variants: [runs('ten steps')],
    times: 300,
    rounds: 9,
    atMost: { 'ten steps': 2.5 },
  }
}

function sleeps(): Figure {
  return {
    name: 'a run that sleeps 30 days over one that sleeps 30 seconds',
    baseline: runs('30 seconds', '30s'),
    variants: [runs('30 days', '30d')],
    times: 300,
    rounds: 9,
    atMost: { '30 days': 1.5 },
  }
}

type Connected = Pick<Sandbox, 'urls' | 'tokens' | 'destinations'>

/** Serves a workflow with the SDK. @returns a function that triggers it */
function served({ urls, tokens, destinations }: Connected, count: number): () => Promise<unknown> {
  const connection = { baseUrl: urls.queue, token: tokens.queue }
  const { POST } = serve(
    async (context) => {
      for (let step = 1; step <= count; step++) await context.run(`step ${step}`, () => step)
    },
    { qstashClient: new QueueClient(connection), receiver: undefined as never },
  )
  destinations.on(url, POST as unknown as (request: Request) => Promise<Response>)
  const client = new Client(connection)
  return () => client.trigger({ url, body: { order: 1 }, retries: 3 })
}

/** Runs the app once in its own sandbox. */
async function undisturbed(count: number): Promise<void> {
  const sandbox = createSandbox({ dialect: 'upstash' })
  replaceFetch(sandbox)
  const trigger = served(sandbox, count)
  await trigger()
  await sandbox.clock.drain()
  sandbox.dispose()
}

/** The SDK takes most of this time, so the figure has no goal. */
function withSdk(): Figure {
  const sdk: Variant = {
    name: 'ten steps with the SDK',
    async run(times) {
      const sandbox = createSandbox({ startAt: start, dialect: 'upstash', policy: { maxTrafficEntries: 0 } })
      replaceFetch(sandbox)
      const trigger = served(sandbox, steps)
      for (let count = 0; count < times; count++) {
        await trigger()
        await sandbox.clock.drain()
      }
      sandbox.dispose()
    },
  }
  return {
    name: 'the same with the SDK in the loop, over the recorded requests',
    baseline: runs('ten steps'),
    variants: [sdk],
    times: 50,
    rounds: 9,
  }
}

function crashPoints(): Figure {
  const count = 5
  let spent = 0
  const counted = async (work: () => Promise<number>): Promise<void> => {
    const before = process.cpuUsage()
    const times = await work()
    const { user, system } = process.cpuUsage(before)
    spent = (user + system) / times
  }
  return {
    name: 'a schedule of assertCrashSafe() over one run of the same workflow that nothing disturbs',
    baseline: {
      name: 'undisturbed',
      run: () =>
        counted(async () => {
          const times = 30
          for (let at = 0; at < times; at++) await undisturbed(count)
          return times
        }),
    },
    variants: [
      {
        name: 'a schedule',
        run: () => counted(async () => (await assertCrashSafe((sandbox) => served(sandbox, count))).plans),
      },
    ],
    times: 1,
    rounds: 9,
    reading: () => spent,
    atMost: { 'a schedule': 1.5 },
  }
}

function heap(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const asleep = '{"stepId":1,"stepName":"night","stepType":"SleepFor","sleepFor":"30d","concurrent":1}'

/** Starts this many runs, each of which sleeps after its first delivery. */
async function sleeping(count: number): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt: start, policy: { maxTrafficEntries: 0 } })
  sandbox.destinations.respond(url, (attempt) => {
    const runId = attempt.header('service-workflow-runid')!
    send(sandbox, '/v2/batch', batch(runId, false, asleep, { 'service-delay': '30d' }))
    return { status: 200, headers: { 'service-workflow-sdk-version': '1', 'service-workflow-sdk': 'v1.3.3' } }
  })
  for (let at = 0; at < count; at++) send(sandbox, '/v2/batch', batch(`wfr_${at}`, true, '{"order":1}'))
  await sandbox.clock.advance(1000)
  return sandbox
}

/** Publishes only the messages of such runs: one that was delivered, and one that waits as long. */
async function plainPairs(count: number): Promise<Sandbox> {
  const sandbox = createSandbox({ startAt: start, policy: { maxTrafficEntries: 0 } })
  sandbox.destinations.respond(url, () => {
    const later = { destination: url, headers: { 'service-delay': '30d' }, body: asleep }
    send(sandbox, '/v2/batch', JSON.stringify([later]))
    return 200
  })
  const now = JSON.stringify([{ destination: url, body: '{"order":1}' }])
  for (let at = 0; at < count; at++) send(sandbox, '/v2/batch', now)
  await sandbox.clock.advance(1000)
  return sandbox
}

function memory(): Figure {
  let used = 0
  const held = async (make: () => Promise<Sandbox>): Promise<number> => {
    const before = heap()
    const sandbox = await make()
    const bytes = heap() - before
    sandbox.dispose()
    return bytes
  }
  return {
    name: 'memory of a sleeping run, the traffic log apart',
    baseline: {
      name: 'with payloads, messages and their log',
      async run(times) {
        used = await held(() => sleeping(times))
      },
    },
    variants: [
      {
        name: 'less the same messages without a run',
        async run(times) {
          const messages = await held(() => plainPairs(times))
          used = (await held(() => sleeping(times))) - messages
        },
      },
    ],
    times: 10_000,
    rounds: 5,
    unit: 'B',
    reading: () => used,
    within: { 'less the same messages without a run': 1024 },
  }
}

export const figures = [tenSteps, withSdk, sleeps, crashPoints, memory]
