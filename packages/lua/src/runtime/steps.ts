/**
 * Remaining steps of the current run. A loop iteration and a call cost one step each. Long work in a library function
 * costs more.
 */
export const remaining: { steps: number } = { steps: 0 }

/** Thrown when the steps of a run are used up. `pcall` does not catch it. */
export class BudgetExhausted {
  readonly message = 'the step budget of the script is exhausted'
}

export function exhausted(): never {
  remaining.steps = 0
  throw new BudgetExhausted()
}

/** Deducts steps for other work than calls and loop iterations. @param units number of steps to deduct */
export function charge(units: number): void {
  remaining.steps -= units
  if (remaining.steps < 0) exhausted()
}

/**
 * Deducts steps for a new entry of a table. This function does not check the budget, because tables are also filled
 * outside of scripts. The next step of the script checks the budget.
 * @param units number of steps to deduct
 */
export function chargePlace(units: number): void {
  remaining.steps -= units
}
