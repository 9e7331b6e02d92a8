/**
 * What `faults.add()` was given, here or in a client, as a list of rules. Whether they are right is looked at later.
 * @throws TypeError for a whole scenario, and for the faults of one that has none
 */
export function givenRules<Rule extends object>(given: Rule | readonly Rule[] | undefined): readonly Rule[] {
  if (given === undefined) {
    throw new TypeError(
      "faults.add() takes a rule or a list of them, got undefined. A scenario without faults has none to add: play its steps with playScenario(scenario) of 'stuntdouble/scenarios'.",
    )
  }
  if (Array.isArray(given)) return given as readonly Rule[]
  if (typeof given === 'object' && given !== null && 'faults' in given) {
    throw new TypeError('faults.add() takes rules, not a scenario: faults.add(scenario.faults).')
  }
  return [given as Rule]
}
