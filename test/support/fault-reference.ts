// docs/reference/faults.md: every fault with its effect in a small example. `npm run docs` writes it.

import { Receiver } from '@upstash/qstash'
import {
  createSandbox,
  type FaultConditions,
  type FaultKind,
  type FaultRule,
  type InjectionPoint,
  type Sandbox,
} from '../../src/index.js'
import { codes, definitions, writtenAs } from './fault-tables.js'

const opening = `# Fault kinds

<!-- Generated from the catalog of faults: \`npm run docs\`. Do not edit. -->

See the effect of each fault kind: a rule, and the timeline of a small example in which its fault is injected. How to add, count and combine rules: see [Faults](../faults.md).`

/** Returns the page from the catalog and from runs of the examples. */
export async function faultReference(): Promise<string> {
  const parts = [opening]
  for (const definition of definitions) {
    const { kind, summary, example, shownAt, points, fields } = definition
    const rule = { on: shownAt, times: 1, fault: example, ...extra[kind] } as FaultRule
    const takes = Object.keys(fields).length === 0 ? '' : `; fields ${codes(Object.keys(fields))}`
    parts.push(
      `## ${kind}`,
      sentence(summary),
      `Constructor ${writtenAs(definition)}${takes}. Injection points: ${codes(points)}.`,
      ['```text', JSON.stringify(rule), '', await shown(rule), '```'].join('\n'),
    )
  }
  return `${parts.join('\n\n')}\n`
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}${/[.!?]$/.test(summary) ? '' : '.'}`
}

/** Setup that an example needs for an effect. */
const extra: Partial<Record<FaultKind, FaultConditions>> = {
  'stale-read': { match: { command: 'GET' } },
}

const shop = 'https://shop.test/orders'

/** Returns the timeline of a small example in which the fault is injected. */
async function shown(rule: FaultRule): Promise<string> {
  // The SDK supports only its own vendor.
  const dialect = ['bad-signature', 'clock-skew'].includes(rule.fault.kind) ? 'upstash' : 'neutral'
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', dialect, onWarning: () => {} })
  sandbox.faults.add(rule)
  sandbox.destinations.on(shop, receiver(sandbox))
  sandbox.destinations.respond('https://shop.test/done', 200)
  await examples[rule.on as InjectionPoint](sandbox)
  await sandbox.clock.drain()
  return sandbox.traffic.timeline()
}

/** A receiver that verifies the signature with the vendor's SDK. */
function receiver({ queue: { signingKeys } }: Sandbox): (request: Request) => Promise<Response> {
  const sdk = new Receiver({ currentSigningKey: signingKeys.current, nextSigningKey: signingKeys.next })
  return async (request) => {
    const signature = request.headers.get('upstash-signature')
    if (signature === null) return Response.json({ done: true })
    const verified = sdk.verify({ signature, body: await request.text() })
    return verified.then(
      () => Response.json({ done: true }),
      (error: Error) => new Response(error.message, { status: 401 }),
    )
  }
}

const examples: Readonly<Record<InjectionPoint, (sandbox: Sandbox) => unknown>> = {
  'store.request': (sandbox) => ask(sandbox, '/incr/visits'),
  'store.command': async (sandbox) => {
    for (const path of ['/set/user/Ada', '/set/user/Eve', '/get/user']) await ask(sandbox, path)
  },
  'queue.request': async (sandbox) => {
    const url = `${sandbox.urls.regions['us-east-1']}/v2/keys`
    await settle(sandbox, sandbox.fetch(url, { headers: { authorization: `Bearer ${sandbox.tokens.queue}` } }))
  },
  'queue.delivery': (sandbox) => {
    sandbox.queue.publish({ to: shop, body: 'first', retries: 1, timeout: '10s' })
    if (sandbox.faults.rules[0]?.rule.fault.kind === 'reorder') {
      sandbox.queue.publish({ to: shop, body: 'second', retries: 1, delay: '5s' })
    }
  },
  'queue.callback': (sandbox) => sandbox.queue.publish({ to: shop, callback: 'https://shop.test/done' }),
  'stats.request': () => undefined,
  'outbound.request': () => undefined,
  'stream.open': async (sandbox) => {
    const answer = await sandbox.fetch(`${sandbox.urls.store}/subscribe/news`, bearer(sandbox))
    void answer.text().catch(() => undefined)
    for (const message of ['a', 'b', 'c']) {
      sandbox.store.run('PUBLISH', 'news', message)
      await sandbox.clock.advance('1s')
    }
  },
  'stream.event': () => undefined,
  'schedule.fire': () => undefined,
  'workflow.step': () => undefined,
  'workflow.call': () => undefined,
  'workflow.wait': () => undefined,
}

function bearer(sandbox: Sandbox): RequestInit {
  return { headers: { authorization: `Bearer ${sandbox.tokens.store}` } }
}

function ask(sandbox: Sandbox, path: string): Promise<void> {
  return settle(sandbox, sandbox.fetch(sandbox.urls.store + path, bearer(sandbox)))
}

/** Waits for a response and its body, and ignores errors. */
async function settle(sandbox: Sandbox, asked: Promise<Response>): Promise<void> {
  const read = asked.then((answer) => answer.text()).catch(() => undefined)
  await sandbox.clock.drain()
  await read
}
