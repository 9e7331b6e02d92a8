// The generated tables of faults, in docs/faults.md and docs/reference/faults.md: `npm run docs` writes them.

import { literal } from '../../packages/explore/src/delivery/rule-literal.js'
import { catalog, type FaultDefinition, faultKinds } from '../../src/faults/catalog.js'
import type { Transport } from '../../src/faults/fault-spec.js'
import { type InjectionPoint, injectionPoints } from '../../src/index.js'

const begin = '<!-- generated: injection points -->'
const end = '<!-- end -->'

/** Returns the guide with its table of injection points up to date. */
export function withFaultTables(page: string): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end, from)
  if (from === -1 || to === -1) throw new Error('docs/faults.md has no place for the injection points.')
  return `${page.slice(0, from)}${begin}\n\n${pointTable()}\n\n${page.slice(to)}`
}

/** Every fault, in the order of the catalog. */
export const definitions: readonly FaultDefinition[] = faultKinds.map((kind) => catalog[kind] as FaultDefinition)

const effects: Readonly<Record<FaultDefinition['effect'], string>> = {
  answers: 'responds',
  shapes: 'shapes',
  holds: 'holds',
}

export function catalogTable(): string {
  const rows = definitions.map((definition) => {
    const { kind, effect, phases } = definition
    const columns = [writtenAs(definition), effects[effect], phases.join(' or ')]
    return `| [\`${kind}\`](#${kind}) | ${columns.join(' | ')} |`
  })
  return ['| Kind | Constructor | Effect | Phase |', '|---|---|---|---|', ...rows].join('\n')
}

/** The call that makes the fault. */
export function writtenAs({ made, sample }: FaultDefinition): string {
  return `\`fault.${Object.keys(made)[0]}(${sample.map(literal).join(', ')})\``
}

/** Names as code, one after the other. */
export const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' ')

const occasions: Readonly<Record<InjectionPoint, string>> = {
  'store.request': 'a request to the data store arrives',
  'store.command': 'a request runs a command; in a pipeline or transaction, once for each command',
  'queue.request': 'a request to the queue arrives',
  'queue.delivery': 'an attempt to deliver a message is due',
  'queue.callback': 'an attempt to deliver a callback or failure callback is due',
  'stats.request': 'a request to the statistics arrives',
  'outbound.request': 'the app sends a request to a host that is registered in `sandbox.outbound`',
  'stream.open': 'a request opens an event stream; rules at `store.request` are evaluated first',
  'stream.event': 'an event is sent to a stream',
  'schedule.fire': 'a schedule fires',
  'workflow.step':
    'an attempt is due that delivers a step, or the response to a `context.call()`, to the endpoint of the workflow; rules at `queue.delivery` and `queue.callback` are evaluated later',
  'workflow.call':
    'an attempt to send the request of `context.call()` is due; rules at `queue.delivery` are evaluated later',
  'workflow.wait': 'a step asks to wait for an event; rules at `queue.request` are evaluated later',
}

function pointTable(): string {
  const rows = injectionPoints.map((point) => `| \`${point}\` | ${occasions[point]} |`)
  return ['| Injection point | Rules are evaluated when |', '|---|---|', ...rows].join('\n')
}

export function pointFaultTable(): string {
  const rows = injectionPoints.map((point) => {
    const kinds = faultKinds.filter((kind) => catalog[kind].points.includes(point))
    return `| \`${point}\` | ${codes(kinds)} |`
  })
  return ['| Injection point | Faults |', '|---|---|', ...rows].join('\n')
}

const transports: Readonly<Record<Transport, string>> = {
  fetch: '`sandbox.fetch`, `stuntdouble/fetch`',
  msw: '`stuntdouble/msw`',
  nock: '`stuntdouble/nock`',
  playwright: '`stuntdouble/playwright`',
  server: 'the server',
}

export function insteadTable(): string {
  const rows = definitions.flatMap(({ kind, instead }) =>
    Object.entries(instead ?? {}).map(([way, what]) => `| \`${kind}\` | ${transports[way as Transport]} | ${what} |`),
  )
  return ['| Fault | Adapter | Effect instead, and reason |', '|---|---|---|', ...rows].join('\n')
}
