import * as v from 'valibot'
import { once } from '../kernel/once.js'
import { catalog, faultKinds } from './catalog.js'
import type { FaultKind } from './fault.js'
import { faultProblems } from './fault-schema.js'
import { faultRuleSchema, kindsAt, ruleProblems } from './rule-schema.js'
import { type Expert, experts } from './scenario-problems.js'

// Fault rules and scripts as parts of a scenario: the schemas of the catalog, and its sentences.

export const ruleList: () => v.GenericSchema = once(() => v.array(rule()))
export const rules: () => v.GenericSchema = once(() => v.union([rule(), ruleList()]))

const rule = once((): v.GenericSchema => {
  const schema = faultRuleSchema() as v.GenericSchema
  experts.set(schema, ruleProblems as Expert)
  return schema
})

/** What a delivery can meet by itself: without what needs a second delivery or a service. */
const scripted: readonly FaultKind[] = faultKinds.filter(
  (kind) => kindsAt('queue.delivery').includes(kind) && !['drop', 'reorder', 'restart', 'outage'].includes(kind),
)

/** A step of a script; only here `delay` can say what comes then. */
export const scriptStep: () => v.GenericSchema = once(() => {
  const schema = v.variant(
    'kind',
    scripted.map((kind) =>
      v.strictObject({
        kind: v.literal(kind),
        ...catalog[kind].fields,
        // biome-ignore lint/suspicious/noThenProperty: the field of a step, described here
        ...(kind === 'delay' && { then: v.exactOptional(v.lazy(scriptStep)) }),
      }),
    ) as never,
  )
  experts.set(schema, stepProblems)
  return schema
})
export const script: () => v.GenericSchema = once(() => v.array(scriptStep()))

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
