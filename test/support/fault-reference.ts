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
import { catalogTable, codes, definitions, insteadTable, pointFaultTable, writtenAs } from './fault-tables.js'

const opening = `# All faults

<!-- Generated from the catalog of faults: \`npm run docs\`. Do not edit. -->

Look up a fault: its constructor, fields, injection points, and effect in a timeline. To write rules and scripts, see [Faults](../faults.md).

${catalogTable()}

For the column "Effect", see [Order and composition](../faults.md#order-and-composition). The first phase is the default.

## Faults by injection point

${pointFaultTable()}

## Adapter limits

\`sandbox.fetch\` and \`stuntdouble/fetch\` support every fault. With \`stuntdouble/playwright\`, a page gets a broken body through a redirect to a server that sends it.

${insteadTable()}`

/** Facts that the summary of a fault leaves out. */
const notes: Partial<Record<FaultKind, string>> = {
  status: 'For a 503, this body is `{"error":"service unavailable"}`.',
  'rate-limited': 'The response, including its headers, is that of the service.',
  'quota-exceeded': 'The response, including its headers, is that of the service.',
  'revoked-token': 'The response, including its headers, is that of the service.',
  duplicate:
    'For a delivery, the queue sees only the first response, and the copies have the same message ID and count. For a request, the work is done again, as when a proxy repeats it.',
  drop: 'The message is lost, which breaks a guarantee of the service. Use this fault to test whether your app detects the loss.',
  'bad-signature':
    'If a flaw needs a rotation that has not happened, or a JSON body that does not exist, the nearest flaw is used. [`assertVerifiesSignatures()`](../checks-verification.md) tests an app with all flaws, and with the signatures that it must accept.',
  'clock-skew':
    "In virtual time, signatures are always valid by default. The fault then makes them expire long ago, or be issued in the far future, regardless of the receiver's date. With `signatureWindow: 'real'`, the skew is exact, in virtual time.",
  'stale-read': 'The sandbox records earlier values of keys from the instant at which you add the rule.',
  outage:
    "With a `region`, the fault affects requests to that region's URL and deliveries of messages that were published there. For deliveries, the rule needs `until`.",
}

/** Returns the page from the catalog and from runs of the examples. */
export async function faultReference(): Promise<string> {
  const parts = [opening]
  for (const definition of definitions) {
    const { kind, summary, example, shownAt, points, fields } = definition
    const rule = { on: shownAt, times: 1, fault: example, ...extra[kind] } as FaultRule
    const takes = Object.keys(fields).length === 0 ? '' : `\n\nFields: ${codes(Object.keys(fields))}.`
    const note = notes[kind]
    parts.push(
      `## ${kind}`,
      sentence(summary) + (note === undefined ? '' : ` ${note}`),
      `Constructor: ${writtenAs(definition)}.${takes}\n\nInjection points: ${codes(points)}.`,
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
