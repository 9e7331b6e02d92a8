import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import type { RepeatedDelivery } from './crash-run.js'
import type { RunDelivery } from './run-delivery.js'
import { isNext, type StepDifference, stepDifferences } from './step-differences.js'

/**
 * Finds non-determinism in the code outside the steps, by repeating each delivery. A delivery is repeated with three
 * contents of the data store: those before the delivery, those at the end of the runs, and those before the first
 * delivery. With the contents before the first delivery, only the next step must be the same, not its content.
 * @param again repeats a delivery in a temporary sandbox
 */
export async function straysOf(
  deliveries: readonly RunDelivery[],
  finalStore: StoreDump,
  again: (delivery: RunDelivery, store: StoreDump) => Promise<RepeatedDelivery>,
): Promise<StepDifference[]> {
  const found = new Map<string, StepDifference>()
  const add = (difference: StepDifference): void => {
    const place = `${difference.step} ${difference.field}`
    if (!found.has(place)) found.set(place, difference)
  }
  const refused = (step: string, refusal: string): void =>
    add({ step, field: 'answer', first: 'a step', again: refusal })
  const firstStore = deliveries[0]!.storeBefore!
  for (const delivery of deliveries) {
    const { submissions, refusal, told } = delivery
    const storeBefore = delivery.storeBefore!
    if (refusal !== undefined) refused(told, refusal)
    if (submissions.length === 0) continue
    for (const store of distinct([storeBefore, finalStore, firstStore])) {
      const isEarlier = store === firstStore && store !== storeBefore
      const now = await again(delivery, store)
      if (now.refusal !== undefined && !isEarlier) refused(told, now.refusal)
      // With another store, a step that has already run may throw when it runs again. Such an error is not a
      // difference.
      if (now.submissions.length === 0 && store !== storeBefore) continue
      for (const difference of stepDifferences(submissions, now.submissions))
        if (!isEarlier || isNext(difference)) add(difference)
    }
  }
  return [...found.values()]
}

function distinct(stores: readonly StoreDump[]): readonly StoreDump[] {
  return [...new Map([...stores].reverse().map((store) => [JSON.stringify(store), store])).values()].reverse()
}
