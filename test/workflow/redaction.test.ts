import { expect, test } from 'vitest'
import { toHtml } from '../../src/report/html.js'
import { loadTrace } from '../../src/report/load-trace.js'
import { app, type WorkflowWorld, workflowWorld } from './world.js'

// What a trigger redacts, and what looks like a secret, is never shown, not even in the list that a delivery carries.

async function run(redact: boolean): Promise<WorkflowWorld> {
  const world = workflowWorld()
  const hush = { password: 'hunter2-hunter2' }
  world.destinations.respond('https://third.test/*', { status: 200, body: { ...hush, call: 'CALL-marker' } })
  world.serve('/run', async (context) => {
    await context.run('charge', () => ({ ...hush, step: 'STEP-marker' }))
    const body = JSON.stringify({ ...hush, sent: 'SENT-marker' })
    await context.call('pay', { url: 'https://third.test/pay', method: 'POST', body })
    await context.waitForEvent('approval', 'approved', { timeout: '1h' })
    await context.waitForEvent('early', 'kept', { timeout: '1h' })
    await Promise.all([context.run('a', () => ({ ...hush, a: 'A-marker' })), context.sleep('nap', 5)])
    return { ...hush, result: 'RESULT-marker' }
  })
  await world.client.trigger({
    url: `${app}/run`,
    workflowRunId: 'one',
    body: { ...hush, payload: 'PAYLOAD-marker' },
    ...(redact && { redact: { body: true } }),
  })
  await world.clock.advance('1s')
  await world.client.notify({ eventId: 'approved', eventData: { ...hush, event: 'EVENT-märker' } })
  world.workflow.notify('kept', { ...hush, kept: 'KEPT-marker' }, { runId: 'wfr_one' })
  await world.clock.drain()
  expect(world.workflow.getRun('wfr_one').state).toBe('RUN_SUCCESS')
  return world
}

/** Returns a text together with everything that is base64 in it, decoded at every level. */
function opened(given: string, depth = 4): string {
  if (depth === 0) return given
  const inner = [...given.matchAll(/[A-Za-z0-9+/]{12,}={0,2}/g)].map(([one]) => Buffer.from(one, 'base64').toString())
  return [given, ...inner.map((one) => opened(one, depth - 1))].join('\n')
}

function renderings({ traffic }: WorkflowWorld): Record<string, string> {
  const trace = JSON.stringify(traffic.toTrace())
  return {
    timeline: traffic.timeline({ bodies: 5000 }),
    trace,
    'a trace written again': JSON.stringify(loadTrace(JSON.parse(trace)).toTrace()),
    har: JSON.stringify(traffic.toHar()),
    html: toHtml(traffic),
    diagram: traffic.diagram(),
    normalized: JSON.stringify(traffic.normalized()),
  }
}

test('values that look like secrets are redacted in every level of every output, and nothing else is', async () => {
  for (const [name, text] of Object.entries(renderings(await run(false)))) {
    expect([name, opened(text).includes('hunter2-hunter2')]).toEqual([name, false])
    if (name === 'trace' || name === 'har') {
      const markers = ['STEP', 'SENT', 'CALL', 'EVENT', 'A', 'RESULT', 'PAYLOAD']
      expect(markers.filter((marker) => !opened(text).includes(`${marker}-m`))).toEqual([])
    }
  }
})

test('Redact-Fields of a trigger redacts payload, steps, calls, events and results in every output', async () => {
  for (const [name, text] of Object.entries(renderings(await run(true)))) {
    const shown = [...new Set(opened(text).match(/[A-Z]+-m[aä]rker/g))]
    expect([name, shown]).toEqual([name, []])
  }
})

test('an event arrives with its original bytes', async () => {
  const world = await run(false)
  const [event] = loadTrace(JSON.parse(JSON.stringify(world.traffic.toTrace()))).ofType('notify')
  expect(JSON.parse(Buffer.from(event!.body, 'latin1').toString())).toMatchObject({ event: 'EVENT-märker' })
})
