import { type Combination, choiceText, type PolicyChoices } from './policy-choices.js'

/** Number of runs with a policy value, and how many of them fail. The other policies keep their values. */
export interface ValueCount {
  readonly value: unknown
  readonly failed: number
  readonly of: number
}

/** Number of fault plans that are tried with each policy value after a failure. */
export const schedulesPerValue = 40

/**
 * Counts, for each value of each varied policy, the fault plans with which the property fails. The other policies keep
 * the values of the counterexample.
 * @param fails returns whether the property fails with a fault plan. Returns `undefined` if the run has no result
 */
export async function countByValue<S>(
  choices: PolicyChoices,
  found: Combination,
  schedules: readonly S[],
  fails: (schedule: S, combination: Combination) => Promise<boolean | undefined>,
): Promise<ReadonlyMap<string, readonly ValueCount[]>> {
  const counts = new Map<string, readonly ValueCount[]>()
  for (const [name, values] of Object.entries(choices) as [string, readonly unknown[]][]) {
    if (values.length < 2) continue
    const counted: ValueCount[] = []
    for (const value of values) {
      let [failed, of] = [0, 0]
      for (const schedule of schedules) {
        const result = await fails(schedule, { ...found, [name]: value })
        if (result !== undefined) of++
        if (result === true) failed++
      }
      counted.push({ value, failed, of })
    }
    counts.set(name, counted)
  }
  return counts
}

/** Returns lines that state with which values the property fails. */
export function policyLines(counts: ReadonlyMap<string, readonly ValueCount[]>): string[] {
  return [...counts].map(([name, values]) => {
    const told = (list: readonly ValueCount[]): string =>
      list.map(({ value, failed, of }) => `${choiceText(value)} (${failed} of ${of} runs)`).join(', ')
    const failing = values.filter(({ failed }) => failed > 0)
    const holding = values.filter(({ failed }) => failed === 0)
    if (holding.length === 0) return `fails with every value of ${name}: ${told(values)}`
    const runs = holding.map(({ value, of }) => `0 of ${of} runs fail with ${choiceText(value)}`).join(', ')
    return `fails with ${name} ${told(failing)} only; ${runs}`
  })
}

/**
 * Returns the combination of the counterexample with one value replaced. With the new value no run failed, so a run
 * with the returned combination can be compared with the counterexample.
 */
export function holdingNeighbor(
  counts: ReadonlyMap<string, readonly ValueCount[]>,
  found: Combination,
): { readonly name: string; readonly value: unknown; readonly combination: Combination } | undefined {
  for (const [name, values] of counts) {
    const holding = values.find(({ failed }) => failed === 0)
    if (holding !== undefined) return { name, value: holding.value, combination: { ...found, [name]: holding.value } }
  }
  return undefined
}
