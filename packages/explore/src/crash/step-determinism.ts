import type { StoreDump } from '../../../../src/store/dump/store-dump.js'
import type { RepeatedDelivery } from './crash-run.js'
import type { RunDelivery } from './run-delivery.js'
import { isNext, type StepDifference, stepDifferences } from './step-differences.js'

/** Contents of the databases of a data store, the first database first. */
type Stores = readonly StoreDump[]

/**
 * Finds non-determinism in the code outside the steps, by repeating each delivery. A delivery is repeated with three
 * contents of the data store: those before the delivery, those at the end of the runs, and those before the first
 * delivery. With the contents before the first delivery, only the next step must be the same, not its content.
 * @param again repeats a delivery in a temporary sandbox
 */
export async function straysOf(
  deliveries: readonly RunDelivery[],
  finalStores: Stores,
  again: (delivery: RunDelivery, stores: Stores) => Promise<RepeatedDelivery>,
): Promise<StepDifference[]> {
  const found = new Map<string, StepDifference>()
  const add = (difference: StepDifference): void => {
    const place = `${difference.step} ${difference.field}`
    if (!found.has(place)) found.set(place, difference)
  }
  const refused = (step: string, refusal: string): void =>
    add({ step, field: 'answer', first: 'a step', again: refusal })
  const firstStores = deliveries[0]!.storesBefore!
  for (const delivery of deliveries) {
    const { submissions, refusal, told } = delivery
    const storesBefore = delivery.storesBefore!
    if (refusal !== undefined) refused(told, refusal)
    if (submissions.length === 0) continue
    for (const stores of distinct([storesBefore, finalStores, firstStores])) {
      const isEarlier = stores === firstStores && stores !== storesBefore
      const now = await again(delivery, stores)
      if (now.refusal !== undefined && !isEarlier) refused(told, now.refusal)
      // With another store, a step that has already run may throw when it runs again. Such an error is not a
      // difference.
      if (now.submissions.length === 0 && stores !== storesBefore) continue
      for (const difference of stepDifferences(submissions, now.submissions))
        if (!isEarlier || isNext(difference)) add(difference)
    }
  }
  return [...found.values()]
}

function distinct(all: readonly Stores[]): readonly Stores[] {
  return [...new Map([...all].reverse().map((stores) => [JSON.stringify(stores), stores])).values()].reverse()
}
