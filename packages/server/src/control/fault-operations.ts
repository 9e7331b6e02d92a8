import type { toJsonSchema } from '@valibot/to-json-schema'
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

// This schema is only for the documentation. The engine checks the rules, because its messages are better.
const rule = v.custom<FaultRule>((given) => typeof given === 'object' && given !== null, 'must be a rule')
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
    'must have either rules or a scenario',
  ),
)

export const faultOrders: readonly ControlOperation[] = [
  order({
    method: 'POST',
    path: '/faults',
    summary:
      'Adds a fault rule, a list of rules in this order, or the rules of a `scenario`. The returned `handle` identifies these rules when you remove them.',
    body: added,
    describes: v.union([v.strictObject(described), v.strictObject({ scenario })]),
    example: { rules: { on: 'queue.delivery', times: 2, fault: { kind: 'lost-ack' } } },
    tool: {
      name: 'add_fault',
      when: 'Use it to inject a fault into the store, the queue or a delivery: once, several times, or for a while.',
      effect: 'changes',
      next: 'drive the app or publish_message, then list_faults for how often the fault was injected.',
      args: {
        rules:
          'rule or list of rules: `{"on":"queue.delivery","times":2,"fault":{"kind":"lost-ack"}}`; list_fault_kinds lists the values of `fault`',
        scenario: 'scenario whose faults are added, instead of rules',
        location: 'place that added the rules, quoted in errors, such as `app.test.ts:12`',
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
    summary: 'Returns the rules in the order of evaluation, and how often each rule matched and was injected.',
    query: partOf,
    tool: {
      name: 'list_faults',
      does: 'Returns the active fault rules, and how often each rule matched and was injected.',
      when: 'Use it to check that a fault was really injected.',
      effect: 'reads',
      next: 'list_unused_faults to see why a fault was not injected.',
      defaults: { limit: 50 },
    },
    run: ({ faults }, _, asked) => listed(faults.rules, asked, { of: 'rules', view: same }),
  },
  {
    method: 'GET',
    path: '/faults/catalog',
    summary: 'Returns all fault kinds: their effects, fields and injection points.',
    run: async () => {
      const { toJsonSchema } = await import('@valibot/to-json-schema')
      return Object.values(catalog).map(({ kind, summary, points, fields, example }) => ({
        kind,
        summary,
        points,
        fields: Object.entries(fields).map(([name, field]) => fieldOf(name, field as v.GenericSchema, toJsonSchema)),
        example,
      }))
    },
  },
  {
    method: 'GET',
    path: '/faults/unused',
    summary: 'Returns rules that were never injected, each with the reason and the location of its declaration.',
    query: partOf,
    tool: {
      name: 'list_unused_faults',
      when: 'A fault that is never injected tests nothing. Call this after each test with faults.',
      effect: 'reads',
      next: 'remove_faults, and add_fault with a fixed rule.',
      defaults: { limit: 50 },
    },
    run: ({ faults }, _, asked) => listed(faults.unused, asked, { of: 'rules', view: same }),
  },
  {
    method: 'DELETE',
    path: '/faults',
    summary: 'Removes the rules of one handle, the rules with one name, or all rules.',
    query: { handle: 'handle that was returned when the rules were added', name: 'name of rules' },
    tool: {
      name: 'remove_faults',
      when: 'Use it to end a failure.',
      effect: 'destroys',
      next: 'drain_clock, to see the app recover.',
    },
    run: (sandbox, _, asked) => remove(sandbox, asked),
  },
  order({
    method: 'POST',
    path: '/scenarios/play',
    summary: 'Plays a scenario in a separate sandbox. Returns whether the scenario holds, with the timeline.',
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
      when: 'Use it to try a whole scenario with expectations, without changing this sandbox. The same seed gives the same timeline.',
      effect: 'reads',
      next: 'find_failing_seed to try the scenario with many seeds.',
      args: { scenario: 'scenario as JSON, as in docs/scenarios.md', seed: 'seed; default: the seed of the scenario' },
    },
    run: (sandbox, { scenario, seed }, { call }) => played(sandbox, scenario as Scenario, seed, call.signal),
  }),
]

function rulesOf({ faults = [], name }: Scenario): readonly FaultRule[] {
  if (faults.length > 0) return faults
  throw new HttpError(
    400,
    `scenario ${JSON.stringify(name)} has no faults to add. Play its steps with POST /scenarios/play.`,
  )
}

function same<T>(item: T): T {
  return item
}

/** Returns a handle for rules that were added together. A reset deletes the rules and their handles. */
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
    throw new HttpError(404, `There is no handle ${JSON.stringify(id)}. Use one that POST /faults returned.`)
  faults.removeAdded(Number(number))
}

/**
 * Loads the scenario player on demand, because it imports matchers and other modules that a server does not need to
 * start.
 */
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

/** Describes a field of a fault, for the form in the inspector. */
function fieldOf(name: string, schema: v.GenericSchema, described: typeof toJsonSchema): object {
  const { type = 'any', enum: values } = described(schema, { errorMode: 'ignore' })
  const optional = /optional/.test(schema.type)
  return { name, type, ...(optional && { optional }), ...(values !== undefined && { values }) }
}
