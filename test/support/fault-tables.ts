// The generated tables of docs/faults.md: `npm run docs` writes them.

import { literal } from '../../packages/explore/src/delivery/rule-literal.js'
import { catalog, type FaultDefinition, faultKinds } from '../../src/faults/catalog.js'
import type { Transport } from '../../src/faults/fault-spec.js'
import { type InjectionPoint, injectionPoints } from '../../src/index.js'

const begin = (name: string): string => `<!-- generated: ${name} -->`
const end = '<!-- end -->'

/** Returns the page with its tables up to date. */
export function withFaultTables(page: string): string {
  const tables: Record<string, string> = {
    'the catalog': catalogTable(),
    'the points': pointTable(),
    'what cannot be expressed': insteadTable(),
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

/** Every fault, in the order of the catalog. */
export const definitions: readonly FaultDefinition[] = faultKinds.map((kind) => catalog[kind] as FaultDefinition)

export function catalogTable(): string {
  const rows = definitions.map((definition) => {
    const { kind, summary, fields, effect, phases } = definition
    return `| \`${kind}\` | ${writtenAs(definition)} | ${codes(Object.keys(fields))} | ${effect}, ${phases.join(' or ')} | ${summary} |`
  })
  return ['| Kind | Written as | Fields | Effect | What happens |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** The call that makes the fault. */
export function writtenAs({ made, sample }: FaultDefinition): string {
  return `\`fault.${Object.keys(made)[0]}(${sample.map(literal).join(', ')})\``
}

/** Names as code, one after the other. */
export const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' ')

const moments: Readonly<Record<InjectionPoint, string>> = {
  'store.request': 'a request to the data store arrives',
  'store.command': 'a request runs a command, in a pipeline or transaction each one',
  'queue.request': 'a request to the queue arrives',
  'queue.delivery': 'an attempt to deliver a message is due',
  'queue.callback': 'an attempt to deliver a callback or failure callback is due',
  'stats.request': 'a request to the statistics arrives',
  'outbound.request': 'the app calls a host that `sandbox.outbound` has registered',
  'stream.open': 'a request opens an event stream (after `store.request`)',
  'stream.event': 'an event goes into a stream',
  'schedule.fire': 'a schedule triggers',
  'workflow.step':
    'an attempt to deliver a step of a run, or the answer to its call, to its endpoint is due (before `queue.delivery` and `queue.callback`)',
  'workflow.call': 'an attempt to call a third party for a step is due (before `queue.delivery`)',
  'workflow.wait': 'a step asks to wait for an event (before `queue.request`)',
}

function pointTable(): string {
  const rows = injectionPoints.map((point) => {
    const kinds = faultKinds.filter((kind) => catalog[kind].points.includes(point))
    return `| \`${point}\` | ${moments[point]} | ${codes(kinds)} |`
  })
  return ['| Point | When rules are asked | Faults |', '|---|---|---|', ...rows].join('\n')
}

const carriages: Readonly<Record<Transport, string>> = {
  fetch: '`sandbox.fetch`, `stuntdouble/fetch`',
  msw: '`stuntdouble/msw`',
  nock: '`stuntdouble/nock`',
  playwright: '`stuntdouble/playwright`',
  server: 'the server',
}

function insteadTable(): string {
  const rows = definitions.flatMap(({ kind, instead }) =>
    Object.entries(instead ?? {}).map(([way, what]) => `| \`${kind}\` | ${carriages[way as Transport]} | ${what} |`),
  )
  return ['| Fault | Through | What comes instead, and why |', '|---|---|---|', ...rows].join('\n')
}
