import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { campaignUnderWay } from '../campaign/under-way.js'
import { type Exploration, type ExploreOptions, interleaveDeliveries } from './exploration.js'
import { type InterleavingOptions, interleaveClients } from './interleave-clients.js'
import type { InterleavingExploration } from './tried-orders.js'

/**
 * Runs concurrent clients of the data store and the queue, each time with another order of their requests. The outcome
 * of an order is correct if `holds` accepts it. Without `holds`, it must equal the outcome of a serial order.
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
 * Plays a scenario in every possible order of the requests that concurrent deliveries send. Each start of a handler,
 * and each request of a handler to the sandbox, waits until it is admitted. Equal outcomes are reported once.
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

// The orders of a scenario only become known while they are played, so a worker cannot begin with a later order.
const noClients =
  'exploreInterleavings(): a campaign cannot explore a scenario, because its orders are not known in advance. Pass { clients }, or explore the scenario in a test.'
