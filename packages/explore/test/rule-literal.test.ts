import fc from 'fast-check'
import { arb } from 'stuntdouble/fast-check'
import { expect, test } from 'vitest'
import type { FaultRule } from '../../../src/faults/fault.js'
import { runs, seedOr } from '../../../test/support/effort.js'
import { rulesLiteral } from '../src/delivery/rule-literal.js'

/** Evaluates the text, as a program does into which it was pasted. */
const pasted = (text: string): unknown => new Function(`return ${text}`)()

test('rulesLiteral() prints rules as code that evaluates to the same rules', () => {
  for (const rules of fc.sample(arb.faultRules(), { numRuns: runs(300, 300, 3000), seed: seedOr(1) }))
    expect(pasted(rulesLiteral(rules))).toEqual(rules)
})

test('literal() keeps quotes, backslashes, line ends and templates', () => {
  const texts = ["it's", 'a "b"', 'c\\d', "\\'", 'e\nf', '$' + '{g}', '`', '\u2028']
  const rules = texts.map(
    (body): FaultRule => ({
      on: 'queue.delivery',
      fault: { kind: 'status', status: 500, headers: { 'x-a': body }, body },
    }),
  )
  expect(pasted(rulesLiteral(rules))).toEqual(rules)
})
