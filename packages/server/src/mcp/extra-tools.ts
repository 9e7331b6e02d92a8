import { catalog, faultKinds } from '../../../../src/faults/catalog.js'
import { plural } from '../../../../src/kernel/plural.js'
import { Redaction } from '../../../../src/report/redaction.js'
import { excerpt } from '../../../../src/report/safe-text.js'
import { readScenario } from '../tenant-scenario/scenario-file.js'
import { scenarioFile, shippedScenarios } from '../tenant-scenario/shipped-scenario.js'
import { readText } from '../text-file.js'
import type { McpTarget } from './mcp-target.js'
import { Mistake } from './mistake.js'
import { common } from './operation-tools.js'
import { printable } from './printable.js'
import type { InputSchema, ToolArguments, ToolResult, ToolRow } from './tool-row.js'

/** Default number of seeds to try. */
const fewSeeds = 50
export const maxSeeds = 500
/** Time limit for trying seeds, in milliseconds of host time. An agent would not wait longer. */
const patience = 30_000

function inputOf(properties: Readonly<Record<string, object>>, required: readonly string[] = []): InputSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Tools that do not correspond to one operation of the control API. */
export const extraTools: readonly ToolRow[] = [
  {
    name: 'list_tenants',
    description: 'Returns the tenants of this server. Each one has its own data, messages and clock.',
    input: inputOf({}),
    effect: 'reads',
    inParts: false,
    next: 'any other tool with "tenant" to read one of the tenants.',
    run: async (world) => ({ data: (await world.tenants()).join('\n') || '(none)' }),
  },
  {
    name: 'list_fault_kinds',
    description:
      'Returns the fault kinds for `fault` of add_fault and `steps` of script_deliveries, each with an example.',
    input: inputOf({
      point: { type: 'string', description: 'only faults for this injection point, such as `queue.delivery`' },
      page: common.page,
    }),
    effect: 'reads',
    inParts: true,
    next: 'add_fault with one of these faults.',
    run: async (_, { point }) => ({ own: faultLines(point as string | undefined) }),
  },
  {
    name: 'find_failing_seed',
    description:
      'Plays a scenario with one seed after another until the scenario does not hold. Returns the failing seed with the failed expectation and the timeline. This sandbox is not changed. Give either a scenario or the name of a shipped one.',
    input: inputOf({
      scenario: { type: 'object', description: 'scenario with steps and expectations, as for play_scenario' },
      name: { type: 'string', description: 'name of a shipped scenario, such as `lost-acknowledgements`' },
      seeds: {
        type: 'integer',
        minimum: 1,
        maximum: maxSeeds,
        description: `number of seeds to try; default ${fewSeeds}`,
      },
      from: { type: 'integer', minimum: 0, description: 'first seed' },
      tenant: common.tenant,
    }),
    effect: 'reads',
    inParts: false,
    next: 'play_scenario with this "seed" to get the same result.',
    run: findFailing,
  },
]

function faultLines(point: string | undefined): string {
  const rows = faultKinds.map((kind) => catalog[kind])
  const points = [...new Set(rows.flatMap((row) => row.points))]
  if (point !== undefined && !points.some((one) => one === point))
    throw new Mistake(`"point" must be one of ${points.join(', ')}.`)
  return rows
    .filter((row) => point === undefined || row.points.some((one) => one === point))
    .map(({ example, points, summary }) => {
      const where = point === undefined ? ` At ${points.join(', ')}.` : ''
      return `${JSON.stringify(example)}  ${summary}${where}`
    })
    .join('\n')
}

async function findFailing(world: McpTarget, given: ToolArguments, signal?: AbortSignal): Promise<ToolResult> {
  const { seeds = fewSeeds, from, tenant } = given as { seeds?: number; from?: number; tenant?: string }
  const scenario = await scenarioOf(given)
  const first = from ?? (typeof scenario.seed === 'number' ? scenario.seed : 1)
  const end = Date.now() + patience
  let tried = 0
  for (; tried < seeds && Date.now() < end; tried++) {
    const body = { scenario, seed: first + tried }
    const told = await world.ask({ tenant, signal, method: 'POST', path: '/scenarios/play', body })
    const play = told.value as { holds: boolean; verdict: string; timeline: string; error?: string }
    if (told.ok && play.holds) continue
    const redaction = new Redaction({ secrets: await world.secrets(tenant) })
    if (!told.ok) {
      const data = excerpt(redaction.text(String(play.error)), 2_000)
      return {
        isError: true,
        said: 'The scenario cannot be played; the data contains the error.',
        data,
        next: 'fix the scenario.',
      }
    }
    const data = printable(`${play.verdict}\n\n${play.timeline}`, { redaction, whole: true })
    return {
      said: `The scenario does not hold with seed ${first + tried}. It held with ${plural(tried, 'seed')} before.`,
      data,
    }
  }
  const isCut = tried < seeds ? `; the time limit was reached, continue with "from": ${first + tried}` : ''
  return {
    said: `The scenario holds with all ${tried} seeds from ${first} on${isCut}.`,
    next: 'add faults or expectations to the scenario, or try more "seeds".',
  }
}

async function scenarioOf({ scenario, name }: ToolArguments): Promise<Readonly<Record<string, unknown>>> {
  if ((scenario === undefined) === (name === undefined))
    throw new Mistake('Give either "scenario" or the "name" of a shipped one.')
  if (scenario !== undefined) return scenario as Readonly<Record<string, unknown>>
  const names = shippedScenarios()
  // Accept only names of shipped scenarios, so that agents cannot read files.
  if (!names.includes(name as string)) throw new Mistake(`"name" must be a shipped scenario: ${names.join(', ')}.`)
  return readScenario(await readText(scenarioFile(name as string)), name as string) as unknown as Record<
    string,
    unknown
  >
}
