/**
 * Remaining budget of the current run: one unit per loop iteration and call, more for long work in a library function.
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

/** Charges work that is not a call or a loop iteration. */
export function charge(units: number): void {
  remaining.steps -= units
  if (remaining.steps < 0) exhausted()
}

/**
 * Charges a place in a table without checking the budget, because tables are also filled outside scripts. The next step
 * checks it.
 */
export function chargePlace(units: number): void {
  remaining.steps -= units
}
