import { createSandbox, fault } from 'stuntdouble'
import { exploreFaults } from 'stuntdouble/checks'
import { expect, test } from 'vitest'

// Calls that a type checker would reject: from JavaScript, or with a value from another source.
const nothing = undefined as never
const sandbox = createSandbox()

test.each<[string, () => unknown, RegExp]>([
  ['invalid options', () => createSandbox(null as never), /createSandbox\(\): options must be an object/],
  ['an invalid wait', () => fault.latency(null as never), /null is not a duration\. Use milliseconds/],
  ['no rule to take away', () => sandbox.faults.remove(nothing), /faults\.remove\(\): the argument must be a handle/],
  [
    'no rules',
    () => sandbox.faults.add(nothing),
    /faults\.add\(\): the argument must be a rule or a list of rules \(got undefined\)\./,
  ],
  [
    'a whole scenario',
    () => sandbox.faults.add({ name: 'calm', faults: [] } as never),
    /\(got a scenario\)\. Use faults\.add\(scenario\.faults\)/,
  ],
  ['no dump to compare with', () => sandbox.store.diff(nothing), /diff\(\): .* result of dump\(\)/],
  [
    'an unknown invariant',
    () => sandbox.assertInvariants({ only: 'zzz' as never }),
    /no invariant "zzz"\. Use one of no-lost/,
  ],
])('throws one message with the next step for %s', (_, misuse, sentence) => {
  expect(misuse).toThrow(sentence)
})

test('throws one message with the next step for an invalid maxTimers', async () => {
  const budget = 'x' as never
  await expect(sandbox.clock.drain({ maxTimers: budget })).rejects.toThrow(/drain\(\): maxTimers must be.*\(got x\)/)
})

test('throws one message with the next step for a missing scenario', async () => {
  await expect(exploreFaults(nothing)).rejects.toThrow(/^The scenario is invalid/)
})
