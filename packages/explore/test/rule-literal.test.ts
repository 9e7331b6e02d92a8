import fc from 'fast-check'
import { arb } from 'stuntdouble/fast-check'
import { expect, test } from 'vitest'
import type { FaultRule } from '../../../src/faults/fault.js'
import { runs, seedOr } from '../../../test/support/effort.js'
import { rulesLiteral } from '../src/delivery/rule-literal.js'

/** What a program reads that has the text pasted. */
const pasted = (text: string): unknown => new Function(`return ${text}`)()

test('rules as text are the rules again when they are pasted', () => {
  for (const rules of fc.sample(arb.faultRules(), { numRuns: runs(300, 300, 3000), seed: seedOr(1) }))
    expect(pasted(rulesLiteral(rules))).toEqual(rules)
})

test('texts with quotes, backslashes, line ends and templates survive', () => {
  const texts = ["it's", 'a "b"', 'c\\d', "\\'", 'e\nf', '$' + '{g}', '`', '\u2028']
  const rules = texts.map(
    (body): FaultRule => ({
      on: 'queue.delivery',
      fault: { kind: 'status', status: 500, headers: { 'x-a': body }, body },
    }),
  )
  expect(pasted(rulesLiteral(rules))).toEqual(rules)
})
