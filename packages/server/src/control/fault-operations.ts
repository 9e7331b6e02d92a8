import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { catalog } from '../../../../src/faults/catalog.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { HttpError } from '../../../../src/protocol/call.js'
import { type FaultHandle, faultsInternals, handleInternals } from '../../../../src/rules/fault-rules.js'
import { faultRuleSchema } from '../../../../src/rules/rule-schema.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { sandboxInternals } from '../../../../src/sandbox/sandbox-internals.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { type ControlOperation, type OperationContext, order } from './operation.js'
import { listed, partOf } from './operation-parts.js'

// Which rules are right, the engine says best: it names the place and the nearest word. The document describes them.
const rule = v.custom<FaultRule>((given) => typeof given === 'object' && given !== null, 'is not a rule')
const scenario = v.looseObject({ name: v.string(), faults: v.optional(v.array(v.unknown())) })
const described = {
  rules: v.union([faultRuleSchema(), v.array(faultRuleSchema())]),
  location: v.exactOptional(v.string()),
}
const added = v.pipe(
  v.strictObject({
    rules: v.optional(v.union([v.array(rule), rule])),
    scenario: v.optional(scenario),
    location: v.optional(v.string()),
  }),
  v.check(
    ({ rules, scenario }) => (rules === undefined) !== (scenario === undefined),
    'has either rules or a scenario',
  ),
)

export const faultOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/faults',
    summary: 'Adds a rule, or several in this order, or those of a `scenario`; `handle` removes them again.',
    body: added,
    describes: v.union([v.strictObject(described), v.strictObject({ scenario })]),
    example: { rules: { on: 'queue.delivery', times: 2, fault: { kind: 'lost-ack' } } },
    tool: {
      name: 'add_fault',
      when: 'To let something go wrong at the store, the queue or a delivery: once, several times, for a while.',
      effect: 'changes',
      next: 'drive the app or publish_message, then list_faults for how often it struck.',
      args: {
        rules:
          'a rule or a list: `{"on":"queue.delivery","times":2,"fault":{"kind":"lost-ack"}}`; list_fault_kinds lists what `fault` can be',
        scenario: 'instead of rules: a scenario, whose faults are added',
        location: 'where the rule comes from, for messages',
      },
    },
    run: (sandbox, { rules, scenario, location }) =>
      kept(
        sandbox,
        sandbox.faults.add(rules ?? rulesOf(scenario as Scenario), location === undefined ? {} : { location }),
      ),
  }),
  {
    method: 'GET',
    path: '/faults',
    summary: 'The rules in the order in which they are asked, and how often each matched and struck.',
    query: partOf,
    tool: {
      name: 'list_faults',
      does: 'The faults in force, and how often each matched and struck.',
      when: 'To see that a failure really happened.',
      effect: 'reads',
      next: 'list_unused_faults for why one did not strike.',
      defaults: { limit: 50 },
    },
    run: ({ faults }, _, asked) => listed(faults.rules, asked, { of: 'rules', view: same }),
  },
  {
    method: 'GET',
    path: '/faults/catalog',
    summary: 'The faults that there are: what each does, its fields, and the points at which it can strike.',
    run: () =>
      Object.values(catalog).map(({ kind, summary, points, fields, example }) => ({
        kind,
        summary,
        points,
        fields: Object.entries(fields).map(([name, field]) => fieldOf(name, field as v.GenericSchema)),
        example,
      })),
  },
  {
    method: 'GET',
    path: '/faults/unused',
    summary: 'Rules that were never injected, each with a sentence that says why and where it was declared.',
    query: partOf,
    tool: {
      name: 'list_unused_faults',
      when: 'A fault that is never injected proves nothing: ask after each test with faults.',
      effect: 'reads',
      next: 'remove_faults, and add_fault as it should be.',
      defaults: { limit: 50 },
    },
    run: ({ faults }, _, asked) => listed(faults.unused, asked, { of: 'rules', view: same }),
  },
  {
    method: 'DELETE',
    path: '/faults',
    summary: 'Removes rules: those of a handle, those of a name, or all.',
    query: { handle: 'what adding them returned', name: 'the name of rules' },
    tool: {
      name: 'remove_faults',
      when: 'When the failure is over.',
      effect: 'destroys',
      next: 'drain_clock, to see the app recover.',
    },
    run: (sandbox, _, asked) => remove(sandbox, asked),
  },
  order({
    method: 'POST',
    path: '/scenarios/play',
    summary:
      'Plays a whole scenario in a sandbox of its own, apart from the tenant, and answers whether it holds, with the story.',
    body: v.strictObject({ scenario, seed: v.optional(v.union([v.number(), v.string()])) }),
    example: {
      scenario: {
        name: 'a lost acknowledgement',
        destinations: [{ url: 'https://shop.test/orders' }],
        faults: [{ on: 'queue.delivery', times: 1, fault: { kind: 'lost-ack' } }],
        steps: [{ publish: { to: 'https://shop.test/orders' } }, { drain: true }],
        expect: [{ delivered: { to: 'https://shop.test/orders' } }],
      },
    },
    tool: {
      name: 'play_scenario',
      when: 'To try a whole story with expectations, without touching this world. The same seed gives the same story.',
      effect: 'reads',
      next: 'find_failing_seed to try it with many seeds.',
      args: { scenario: 'as in docs/scenarios.md, as JSON', seed: "instead of the scenario's own" },
    },
    run: (sandbox, { scenario, seed }, { call }) => played(sandbox, scenario as Scenario, seed, call.signal),
  }),
]

function rulesOf({ faults = [], name }: Scenario): readonly FaultRule[] {
  if (faults.length > 0) return faults
  throw new HttpError(
    400,
    `The scenario ${JSON.stringify(name)} has no faults to add. Play its steps with POST /scenarios/play.`,
  )
}

function same<T>(item: T): T {
  return item
}

/** Rules are taken away by number; a reset forgets numbers and rules. */
function kept(sandbox: Sandbox, handle: FaultHandle): { handle: string } {
  const { number } = handleInternals.of(handle)
  return { handle: `rules-${sandboxInternals.of(sandbox).beginning().world}-${number}` }
}

function remove(sandbox: Sandbox, { query }: OperationContext): void {
  const { faults } = sandbox
  const [id, name] = [query.get('handle'), query.get('name')]
  if (id === null && name === null) faults.clear()
  if (name !== null) faults.remove(name)
  if (id === null) return
  const [, world, number] = /^rules-(\d+)-(\d+)$/.exec(id) ?? []
  if (
    Number(world) !== sandboxInternals.of(sandbox).beginning().world ||
    !faultsInternals.of(faults).hasAdded(Number(number))
  )
    throw new HttpError(404, `There is no handle ${JSON.stringify(id)}: use one that POST /faults returned.`)
  faults.removeAdded(Number(number))
}

/** Loaded when it is asked for: a player knows matchers and more that a server does without. */
async function played(
  { options }: Sandbox,
  scenario: Scenario,
  seed: number | string | undefined,
  signal: AbortSignal | undefined,
): Promise<object> {
  const { playScenario } = await import('../../../../src/scenarios/play-scenario.js')
  const { fetch, deliverTo: deliver, dialect } = options
  const play = await playScenario(scenario, {
    ...(seed !== undefined && { seed }),
    ...(signal !== undefined && { signal }),
    sandbox: {
      ...(fetch !== undefined && { fetch }),
      ...(deliver !== undefined && { deliverTo: deliver }),
      ...(dialect !== undefined && { dialect }),
    },
  })
  const { holds, checks: findings, endedAt, virtualMs } = play
  return {
    name: scenario.name,
    holds,
    seed: play.seed,
    findings,
    startedAt: endedAt - virtualMs,
    endedAt,
    verdict: play.verdict(),
    timeline: play.timeline(),
  }
}

/** A field of a fault, as a form shows it. */
function fieldOf(name: string, schema: v.GenericSchema): object {
  const { type = 'any', enum: values } = toJsonSchema(schema, { errorMode: 'ignore' })
  const optional = /optional/.test(schema.type)
  return { name, type, ...(optional && { optional }), ...(values !== undefined && { values }) }
}
