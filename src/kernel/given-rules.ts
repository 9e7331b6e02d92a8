/**
 * Converts the argument of `faults.add()` to a list of rules, for the sandbox and for remote clients. Rules are
 * validated later.
 * @throws TypeError when the argument is a whole scenario, or the `faults` of a scenario that has none
 */
export function givenRules<Rule extends object>(given: Rule | readonly Rule[] | undefined): readonly Rule[] {
  if (given === undefined) {
    throw new TypeError(
      "faults.add(): the argument must be a rule or a list of rules (got undefined). If the scenario has no faults, play it with playScenario(scenario) of 'stuntdouble/scenarios'.",
    )
  }
  if (Array.isArray(given)) return given as readonly Rule[]
  if (typeof given === 'object' && given !== null && 'faults' in given) {
    throw new TypeError(
      'faults.add(): the argument must be a rule or a list of rules (got a scenario). Use faults.add(scenario.faults).',
    )
  }
  return [given as Rule]
}
