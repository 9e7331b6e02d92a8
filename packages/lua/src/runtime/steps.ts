/**
 * Remaining steps of the current run. A loop iteration and a call cost one step each, long work in a library function
 * costs more.
 */
export const remaining: { steps: number } = { steps: 0 }

/** Error when the step budget is used up. `pcall` does not catch it. */
export class BudgetExhausted {
  readonly message = 'the step budget of the script is exhausted'
}

export function exhausted(): never {
  remaining.steps = 0
  throw new BudgetExhausted()
}

/**
 * Deducts steps for work that is not a call or a loop iteration.
 * @param units number of steps to deduct
 */
export function charge(units: number): void {
  remaining.steps -= units
  if (remaining.steps < 0) exhausted()
}

/**
 * Deducts steps for a new entry of a table without checking the budget, because tables are also filled outside scripts.
 * The next step checks the budget.
 * @param units number of steps to deduct
 */
export function chargePlace(units: number): void {
  remaining.steps -= units
}
