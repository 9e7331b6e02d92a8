// The generated tables of docs/faults.md: `npm run docs` writes them.

import { Receiver } from '@upstash/qstash'
import { literal } from '../../properties/delivery/rule-literal.js'
import { catalog, type FaultDefinition, faultKinds } from '../../src/faults/catalog.js'
import type { Carriage } from '../../src/faults/row.js'
import {
  createSandbox,
  type Fault,
  type FaultKind,
  type FaultPoint,
  type FaultRule,
  faultPoints,
  type Sandbox,
} from '../../src/index.js'

const begin = (name: string): string => `<!-- generated: ${name} -->`
const end = '<!-- end -->'

/** The page with its tables as they are now. */
export async function withFaultTables(page: string): Promise<string> {
  const tables: Record<string, string> = {
    'the catalog': catalogTable(),
    'the points': pointTable(),
    'what cannot be expressed': insteadTable(),
    'every effect': await effects(),
  }
  let out = page
  for (const [name, table] of Object.entries(tables)) {
    const from = out.indexOf(begin(name))
    const to = out.indexOf(end, from)
    if (from === -1 || to === -1) throw new Error(`docs/faults.md has no place for ${name}.`)
    out = `${out.slice(0, from)}${begin(name)}\n\n${table}\n\n${out.slice(to)}`
  }
  return out
}

const definitions: readonly FaultDefinition[] = faultKinds.map((kind) => catalog[kind] as FaultDefinition)

export function catalogTable(): string {
  const rows = definitions.map(({ kind, summary, fields, effect, phases, made, sample }) => {
    const takes = Object.keys(fields)
      .map((name) => `\`${name}\``)
      .join(' ')
    return `| \`${kind}\` | \`${Object.keys(made)[0]}(${sample.map(literal).join(', ')})\` | ${takes} | ${effect}, ${phases.join(' or ')} | ${summary} |`
  })
  return ['| Kind | Written as | Fields | Effect | What happens |', '|---|---|---|---|---|', ...rows].join('\n')
}

const moments: Readonly<Record<FaultPoint, string>> = {
  'store.request': 'a request to the data store arrives',
  'store.command': 'a request runs a command, in a pipeline or transaction each one',
  'queue.request': 'a request to the queue arrives',
  'queue.delivery': 'an attempt to deliver a message is due',
  'queue.callback': 'an attempt to deliver a callback or failure callback is due',
  'stats.request': 'a request to the statistics arrives',
  'app.call': 'the app calls a host that `sandbox.calls` has registered',
  'stream.open': 'a request opens an event stream (after `store.request`)',
  'stream.event': 'an event goes into a stream',
  'schedule.fire': 'a schedule triggers',
  'workflow.step':
    'an attempt to deliver a step of a run, or the answer to its call, to its endpoint is due (before `queue.delivery` and `queue.callback`)',
  'workflow.call': 'an attempt to call a third party for a step is due (before `queue.delivery`)',
  'workflow.wait': 'a step asks to wait for an event (before `queue.request`)',
}

function pointTable(): string {
  const rows = faultPoints.map((point) => {
    const kinds = faultKinds.filter((kind) => catalog[kind].points.includes(point)).map((kind) => `\`${kind}\``)
    return `| \`${point}\` | ${moments[point]} | ${kinds.join(' ')} |`
  })
  return ['| Point | When rules are asked | Faults |', '|---|---|---|', ...rows].join('\n')
}

const carriages: Readonly<Record<Carriage, string>> = {
  fetch: '`sandbox.fetch`, `stuntdouble/fetch`',
  msw: '`stuntdouble/msw`',
  nock: '`stuntdouble/nock`',
  playwright: '`stuntdouble/playwright`',
  server: 'the server',
}

function insteadTable(): string {
  const rows = definitions.flatMap(({ kind, instead }) =>
    Object.entries(instead ?? {}).map(([way, what]) => `| \`${kind}\` | ${carriages[way as Carriage]} | ${what} |`),
  )
  return ['| Fault | Through | What comes instead, and why |', '|---|---|---|', ...rows].join('\n')
}

async function effects(): Promise<string> {
  const parts: string[] = []
  for (const { kind, example, shownAt } of definitions) {
    const rule: FaultRule = { on: shownAt, times: 1, fault: example as Fault, ...extra[kind] }
    parts.push(`**${kind}**`, '', '```', JSON.stringify(rule), '', await shown(rule), '```', '')
  }
  return parts.join('\n').trimEnd()
}

/** What an example needs so that something comes of it. */
const extra: Partial<Record<FaultKind, Partial<FaultRule>>> = {
  'stale-read': { match: { command: 'GET' } },
}

const shop = 'https://shop.test/orders'

/** The timeline of a small story in which the fault strikes. */
async function shown(rule: FaultRule): Promise<string> {
  // The SDK knows its own vendor only.
  const vocabulary = ['signature', 'clock-skew'].includes(rule.fault.kind) ? 'upstash' : 'service'
  const sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', vocabulary, warn: () => {} })
  sandbox.faults.add(rule)
  sandbox.destinations.on(shop, receiver(sandbox))
  sandbox.destinations.answer('https://shop.test/done', 200)
  await stories[rule.on as FaultPoint](sandbox)
  await sandbox.clock.drain()
  return sandbox.traffic.timeline()
}

/** A receiver that looks at the signature with the vendor's SDK. */
function receiver({ queue: { keys } }: Sandbox): (request: Request) => Promise<Response> {
  const sdk = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next })
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

const stories: Readonly<Record<FaultPoint, (sandbox: Sandbox) => unknown>> = {
  'store.request': (sandbox) => ask(sandbox, '/incr/visits'),
  'store.command': async (sandbox) => {
    for (const path of ['/set/user/Ada', '/set/user/Eve', '/get/user']) await ask(sandbox, path)
  },
  'queue.request': async (sandbox) => {
    const url = `${sandbox.addresses.regions['us-east-1']}/v2/keys`
    await settle(sandbox, sandbox.fetch(url, { headers: { authorization: `Bearer ${sandbox.tokens.queue}` } }))
  },
  'queue.delivery': (sandbox) => {
    sandbox.queue.publish({ to: shop, body: 'first', retries: 1, timeout: '10s' })
    if (sandbox.faults.list()[0]?.rule.fault.kind === 'reorder') {
      sandbox.queue.publish({ to: shop, body: 'second', retries: 1, delay: '5s' })
    }
  },
  'queue.callback': (sandbox) => sandbox.queue.publish({ to: shop, callback: 'https://shop.test/done' }),
  'stats.request': () => undefined,
  'app.call': () => undefined,
  'stream.open': async (sandbox) => {
    const answer = await sandbox.fetch(`${sandbox.addresses.store}/subscribe/news`, bearer(sandbox))
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
  return settle(sandbox, sandbox.fetch(sandbox.addresses.store + path, bearer(sandbox)))
}

/** Waits for an answer and its body, and does not mind when there is none. */
async function settle(sandbox: Sandbox, asked: Promise<Response>): Promise<void> {
  const read = asked.then((answer) => answer.text()).catch(() => undefined)
  await sandbox.clock.drain()
  await read
}
