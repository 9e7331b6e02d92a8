/** Budget left of the run in progress: one unit per loop turn and call, more for long work in a library function. */
export const remaining: { steps: number } = { steps: 0 }

/** The step budget is used up. No `pcall` catches this one. */
export class BudgetExhausted {
  readonly message = 'the step budget of the script is exhausted'
}

export function exhausted(): never {
  remaining.steps = 0
  throw new BudgetExhausted()
}

/** Charges work that is not a call or a loop turn. */
export function charge(units: number): void {
  remaining.steps -= units
  if (remaining.steps < 0) exhausted()
}

/** Charges a place in a table, which is noticed at the next step: tables are filled where no script runs, too. */
export function chargePlace(units: number): void {
  remaining.steps -= units
}
