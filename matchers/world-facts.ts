import { plainText } from '../src/report/safe-text.js'
import type { Evidence } from './received.js'

/** What a world knows beside its log. */
export interface WorldFacts {
  /** What handlers threw. */
  readonly errors: readonly unknown[]
  /** A sentence for each fault, script and verb that nothing met, safe to print. */
  readonly unused: readonly string[]
}

/** A sandbox, a copy of one on a server, or what a log says of its world; any part may be missing. */
interface Loose {
  readonly destinations?: { readonly errors?: unknown; readonly unplayed?: unknown }
  readonly faults?: { readonly unused?: unknown }
  readonly workflow?: { readonly unused?: unknown }
  /** Of both regions. */
  readonly workflows?: readonly { readonly unused?: unknown }[]
}

/** Facts of the world that evidence comes from, empty when it is only a log. */
export function worldOf({ received, context }: Evidence): WorldFacts {
  const given = (received ?? {}) as Loose
  const world = given.faults === undefined ? ((context.world?.() ?? {}) as Loose) : given
  return { errors: listOf(world.destinations?.errors, world.destinations), unused: unusedIn(world) }
}

/** What was prepared and never met, as sentences. */
export function unusedIn({ destinations, faults, workflow, workflows = workflow && [workflow] }: Loose): string[] {
  const scripts = listOf(destinations?.unplayed, destinations) as { pattern: string; steps: { kind?: unknown }[] }[]
  return [
    ...scripts.map(({ pattern, steps }) => {
      const kinds = steps.map(({ kind }) => String(kind)).join(', ')
      return `The script for ${pattern} has steps that no delivery met: ${kinds}.`
    }),
    ...(listOf(faults?.unused, faults) as { sentence?: unknown }[]).map(({ sentence }) => String(sentence)),
    ...(workflows ?? []).flatMap((one) => listOf(one.unused, one).map(String)),
  ].map(plainText)
}

/** Some views offer a list, others a function that makes one. */
export function listOf(given: unknown, owner: unknown): readonly unknown[] {
  const list = typeof given === 'function' ? given.call(owner) : given
  return Array.isArray(list) ? list : []
}
