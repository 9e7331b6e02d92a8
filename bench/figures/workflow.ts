// What a run of a workflow costs over as many plain messages, each published by the handler of the one before.
import { createSandbox, type Sandbox } from 'stuntdouble'
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
    url: `${sandbox.addresses.queue}${path}`,
    headers: [['authorization', `Bearer ${sandbox.tokens.queue}`], ['content-type', 'application/json'], ...headers],
    body: () => body as Bytes,
  })
  if (answer instanceof Promise || answer.status > 299) throw new Error(`${path} was not answered`)
}

/** Each message is published by the handler of the one before, which got its own signed and with a body to read. */
const messages: Variant = {
  name: 'ten messages',
  async run(times) {
    const sandbox = createSandbox({ startAt: start, policy: { trafficLimit: 0 } })
    sandbox.destinations.answer(url, (attempt) => {
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

/** What the SDK would submit, recorded; without the SDK, whose own time is not ours. */
function runs(name: string, sleep?: string): Variant {
  return {
    name,
    async run(times) {
      const sandbox = createSandbox({ startAt: start, policy: { trafficLimit: 0 } })
      sandbox.destinations.answer(url, (attempt) => {
        const done = (JSON.parse(attempt.text()) as unknown[]).length
        const runId = attempt.header('service-workflow-runid')!
        if (done <= steps) {
          const step = { stepId: done, stepName: `step ${done}`, stepType: 'Run', out: '1', concurrent: 1 }
          const asleep = sleep !== undefined && done === 5 ? { 'service-delay': sleep } : {}
          send(sandbox, '/v2/batch', batch(runId, false, JSON.stringify(step), asleep))
        } else {
          sandbox.exchange({
            method: 'DELETE',
            url: `${sandbox.addresses.queue}/v2/workflows/runs/${runId}?cancel=false`,
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
      if (sandbox.workflow.run(`wfr_${times - 1}`).state !== 'RUN_SUCCESS') throw new Error('the run did not end well')
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

export const figures = [tenSteps, sleeps]
