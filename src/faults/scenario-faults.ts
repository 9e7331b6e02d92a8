import * as v from 'valibot'
import { catalog, faultKinds } from './catalog.js'
import type { FaultKind } from './fault.js'
import { faultProblems, faultRuleSchema, kindsAt, ruleProblems } from './rule-schema.js'
import { type Expert, experts } from './scenario-problems.js'

// Fault rules and scripts as parts of a scenario: the schemas of the catalog, and its sentences.

const rule = faultRuleSchema as v.GenericSchema
export const ruleList: v.GenericSchema = v.array(rule)
export const rules: v.GenericSchema = v.union([rule, ruleList])

/** What a delivery can meet by itself: without what needs a second delivery or a service. */
const scripted: readonly FaultKind[] = faultKinds.filter(
  (kind) => kindsAt('queue.delivery').includes(kind) && !['drop', 'reorder', 'restart', 'outage'].includes(kind),
)

/** A step of a script; only here `delay` can say what comes then. */
export const scriptStep: v.GenericSchema = v.variant(
  'kind',
  scripted.map((kind) =>
    v.strictObject({
      kind: v.literal(kind),
      ...catalog[kind].fields,
      // biome-ignore lint/suspicious/noThenProperty: the field of a step, described here
      ...(kind === 'delay' && { then: v.exactOptional(v.lazy(() => scriptStep)) }),
    }),
  ) as never,
)
export const script: v.GenericSchema = v.array(scriptStep)

experts.set(rule, ruleProblems as Expert)
experts.set(scriptStep, stepProblems)

function stepProblems(value: unknown): ReturnType<Expert> {
  const { kind, then: next, ...rest } = (value ?? {}) as { kind?: unknown; then?: unknown }
  const known = typeof kind === 'string' && (faultKinds as readonly string[]).includes(kind)
  if (known && !(scripted as readonly unknown[]).includes(kind)) {
    return [{ path: ['kind'], sentence: `${kind} cannot stand in a script. These can: ${scripted.join(', ')}.` }]
  }
  if (kind !== 'delay' || next === undefined) return faultProblems(value)
  const later = stepProblems(next).map(({ path, sentence }) => ({ path: ['then', ...path], sentence }))
  return [...faultProblems({ kind, ...rest }), ...later]
}
