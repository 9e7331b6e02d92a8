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

/** Seeds that are tried, unless another number is asked for. */
const fewSeeds = 50
export const maxSeeds = 500
/** Host milliseconds in which seeds are tried: an agent waits no longer. */
const patience = 30_000

function inputOf(properties: Readonly<Record<string, object>>, required: readonly string[] = []): InputSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

/** Tools that are no order of one tenant. */
export const extraTools: readonly ToolRow[] = [
  {
    name: 'list_tenants',
    description: 'The worlds of this server. Each has data, messages and a clock of its own.',
    input: inputOf({}),
    effect: 'reads',
    inParts: false,
    next: 'any other tool with "tenant" to look into one.',
    run: async (world) => ({ data: (await world.tenants()).join('\n') || '(none)' }),
  },
  {
    name: 'list_fault_kinds',
    description:
      'What can go wrong, for `fault` of add_fault and `steps` of script_deliveries: each kind with an example.',
    input: inputOf({
      point: { type: 'string', description: 'only what can strike there, such as `queue.delivery`' },
      page: common.page,
    }),
    effect: 'reads',
    inParts: true,
    next: 'add_fault with one of them.',
    run: async (_, { point }) => ({ own: faultLines(point as string | undefined) }),
  },
  {
    name: 'find_failing_seed',
    description: `Plays a scenario with one seed after the other until it does not hold, and tells that history: its seed, what was expected, its timeline. Nothing of it touches this world. Give either a scenario or the name of a shipped one.`,
    input: inputOf({
      scenario: { type: 'object', description: 'as of play_scenario: with steps and with what is expected' },
      name: { type: 'string', description: 'of a shipped scenario, such as `lost-acknowledgements`' },
      seeds: {
        type: 'integer',
        minimum: 1,
        maximum: maxSeeds,
        description: `how many are tried; ${fewSeeds} without it`,
      },
      from: { type: 'integer', minimum: 0, description: 'the first seed' },
      tenant: common.tenant,
    }),
    effect: 'reads',
    inParts: false,
    next: 'play_scenario with that "seed" for the same history again.',
    run: findFailing,
  },
]

function faultLines(point: string | undefined): string {
  const rows = faultKinds.map((kind) => catalog[kind])
  const points = [...new Set(rows.flatMap((row) => row.points))]
  if (point !== undefined && !points.some((one) => one === point))
    throw new Mistake(`There is no such point. Points are ${points.join(', ')}.`)
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
        said: 'The scenario cannot be played; the data says why.',
        data,
        next: 'mend the scenario.',
      }
    }
    const data = printable(`${play.verdict}\n\n${play.timeline}`, { redaction, whole: true })
    return {
      said: `It does not hold with seed ${first + tried}, after ${plural(tried, 'seed')} with which it holds.`,
      data,
    }
  }
  const isCut = tried < seeds ? `; the time was over, go on with "from": ${first + tried}` : ''
  return {
    said: `It holds with all ${tried} seeds from ${first} on${isCut}.`,
    next: 'add faults or expectations to the scenario, or try more "seeds".',
  }
}

async function scenarioOf({ scenario, name }: ToolArguments): Promise<Readonly<Record<string, unknown>>> {
  if ((scenario === undefined) === (name === undefined))
    throw new Mistake('Give either "scenario", or "name" of a shipped one, and not both.')
  if (scenario !== undefined) return scenario as Readonly<Record<string, unknown>>
  const names = shippedScenarios()
  // A name only: no agent reads files with it.
  if (!names.includes(name as string))
    throw new Mistake(`There is no such shipped scenario. There are ${names.join(', ')}.`)
  return readScenario(await readText(scenarioFile(name as string)), name as string) as unknown as Record<
    string,
    unknown
  >
}
