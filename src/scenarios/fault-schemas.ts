import * as v from 'valibot'
import { outboundFaultKinds, outboundStepProblems } from '../calls/outbound-steps.js'
import { faultSchema } from '../faults/fault-schema.js'
import { statusCode } from '../faults/fault-values.js'
import { stepProblems, stepSchema } from '../faults/step-schema.js'
import { once } from '../kernel/once.js'
import { faultRuleSchema, ruleProblems } from '../rules/rule-schema.js'
import { type SchemaCheck, schemaChecks } from './problems.js'

// Schemas of fault rules and scripts in scenarios. The fault catalog provides their checks and error messages.

export const ruleList: () => v.GenericSchema = once(() => v.array(rule()))
export const rules: () => v.GenericSchema = once(() => v.union([rule(), ruleList()]))

const rule = once((): v.GenericSchema => {
  const schema = faultRuleSchema() as v.GenericSchema
  schemaChecks.set(schema, ruleProblems as SchemaCheck)
  return schema
})

export const scriptStep: () => v.GenericSchema = once(() => {
  const schema = stepSchema()
  schemaChecks.set(schema, stepProblems as SchemaCheck)
  return schema
})
export const script: () => v.GenericSchema = once(() => v.array(scriptStep()))

const callStep = once((): v.GenericSchema => {
  const fault = v.pipe(
    faultSchema(),
    v.check(
      ({ kind }) => outboundFaultKinds.includes(kind),
      'must be a fault that can be injected into an outbound request',
    ),
  )
  const schema: v.GenericSchema = v.union([statusCode, fault])
  schemaChecks.set(schema, outboundStepProblems as SchemaCheck)
  return schema
})
export const outboundScript: () => v.GenericSchema = once(() => v.array(callStep()))
