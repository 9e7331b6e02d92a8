import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { utf8 } from '../../src/kernel/bytes.js'
import { readStep } from '../../src/workflow/step.js'
import { runs } from '../support/effort.js'

const text = v.optional(v.string())
const time = v.optional(v.union([v.string(), v.number()]))

/** Schema of a submitted step in the protocol document. [workflow.md 5] */
const sheet = v.looseObject({
  stepId: v.number(),
  stepName: v.string(),
  stepType: v.string(),
  concurrent: v.nullish(v.number(), 1),
  targetStep: v.optional(v.number()),
  sleepFor: time,
  sleepUntil: time,
  waitEventId: text,
  timeout: text,
  waitTimeout: v.optional(v.boolean()),
})

const valid = fc.record(
  {
    stepId: fc.nat(),
    stepName: fc.string(),
    stepType: fc.string(),
    concurrent: fc.option(fc.nat()),
    targetStep: fc.nat(),
    sleepFor: fc.oneof(fc.nat(), fc.string()),
    sleepUntil: fc.oneof(fc.nat(), fc.string()),
    waitEventId: fc.string(),
    timeout: fc.string(),
    waitTimeout: fc.boolean(),
    out: fc.jsonValue(),
    callUrl: fc.string(),
  },
  { requiredKeys: ['stepId', 'stepName', 'stepType'] },
)
const flawed = fc
  .tuple(valid, fc.constantFrom(...Object.keys(sheet.entries)), fc.jsonValue())
  .map(([step, name, value]) => ({ ...step, [name]: value }))
const missing = fc
  .tuple(valid, fc.constantFrom('stepId', 'stepName', 'stepType'))
  .map(([step, name]) => ({ ...step, [name]: undefined }))

test('readStep() accepts bodies with the documented field types; `concurrent` defaults to 1', () => {
  fc.assert(
    fc.property(fc.oneof(valid, flawed, missing, fc.jsonValue()), (given) => {
      const json = JSON.stringify(given)
      const { success, output } = v.safeParse(sheet, JSON.parse(json))
      expect(readStep(utf8(json))).toEqual(success ? output : undefined)
    }),
    { numRuns: runs(500, 500, 5000) },
  )
})

test('readStep() rejects a body that is not JSON', () => {
  for (const body of ['', '{', 'step', '[1]']) expect(readStep(utf8(body))).toBeUndefined()
})
