import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { campaignUnderWay } from '../campaign/under-way.js'
import { type Exploration, type ExploreOptions, interleaveDeliveries } from './exploration.js'
import { type InterleavingOptions, interleaveClients } from './interleave-clients.js'
import type { InterleavingExploration } from './tried-orders.js'

/**
 * Lets several clients of the data store and the queue work at the same time, each of their requests in its turn, and
 * tries the orders. What is right is what comes of the clients one after the other, or what `holds` says.
 * @example
 * const tried = await exploreInterleavings({
 *   setup: ({ store }) => void store.run('SET', 'stock', 2),
 *   clients: { alice: buyOne, bob: buyOne },
 *   holds: ({ store }) => store.get('stock') === '0',
 *   stopOnFirstFailure: true,
 * })
 * expect(tried).toHold()
 */
export function exploreInterleavings(options: InterleavingOptions): Promise<InterleavingExploration>
/**
 * Plays a scenario in every order in which deliveries that run at the same time can take turns: each start of a
 * handler, and each of its requests to the sandbox, waits until it is let through. What ends alike is told once.
 * @example
 * const tried = await exploreInterleavings(scenarios.flappingDestination, {
 *   setup: ({ destinations }) => void destinations.on('https://shop.test/orders', ordersRoute),
 *   maxRuns: 10,
 * })
 * expect(tried).toHold()
 */
export function exploreInterleavings(given: Scenario, options?: ExploreOptions): Promise<Exploration>
export async function exploreInterleavings(
  given: InterleavingOptions | Scenario,
  options: ExploreOptions = {},
): Promise<InterleavingExploration | Exploration> {
  if (isClients(given)) return interleaveClients(given)
  if (campaignUnderWay() !== undefined) throw new TypeError(noClients)
  return interleaveDeliveries(given, options)
}

function isClients(given: InterleavingOptions | Scenario): given is InterleavingOptions {
  return typeof given === 'object' && given !== null && 'clients' in given
}

// The tree of a scenario's orders is only known by walking through it: nobody can begin in the middle.
const noClients =
  'exploreInterleavings(): a campaign tries the orders of clients, exploreInterleavings({ clients }), which are known beforehand; those of a scenario are not. Check it in a test.'
