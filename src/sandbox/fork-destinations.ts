import type { InputColumns } from '../kernel/input-journal.js'
import type { DestinationResponse } from '../queue/destinations/destination-responses.js'
import {
  type DestinationHandler,
  type Destinations,
  destinationsInternals,
} from '../queue/destinations/destinations.js'
import { recordInternal } from './sandbox-internals.js'

/**
 * Replaces the handlers that a fork inherited by the handlers in its options.
 * @param inputs recorded inputs; they show which handlers the fork inherited
 */
export function replaceDestinations(
  fork: { readonly destinations: Destinations },
  inputs: InputColumns,
  given: Readonly<Record<string, DestinationHandler | DestinationResponse>>,
): void {
  const replaced = patternsOf(inputs)
  recordInternal(fork, ({ destinations }) => {
    for (const pattern of replaced) destinationsInternals.of(destinations).unhandle(pattern)
  })
  for (const [pattern, answer] of Object.entries(given)) {
    if (typeof answer === 'function') fork.destinations.on(pattern, answer)
    else fork.destinations.respond(pattern, answer)
  }
}

/** Methods that register a handler, a response or a recorder. */
const registering: ReadonlySet<keyof Destinations> = new Set<keyof Destinations>(['on', 'respond', 'record'])

/** Returns the URL patterns for which recorded calls registered a handler, response or recorder. */
function patternsOf(inputs: InputColumns): ReadonlySet<string> {
  const patterns = new Set<string>()
  for (let index = 0; index < inputs.length; index++) {
    const { kind, what } = inputs.get(index)!
    if (kind !== 'direct' || what[0] !== 'destinations') continue
    const [method, pattern] = what[1] as readonly [keyof Destinations, string | URL]
    if (registering.has(method)) patterns.add(String(pattern))
  }
  return patterns
}
