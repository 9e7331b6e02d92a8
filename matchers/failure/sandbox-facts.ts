import type { Outbound } from '../../src/calls/outbound.js'
import { type UnusedSteps, unplayedText } from '../../src/kernel/unused-script.js'
import type { Destinations } from '../../src/queue/destinations/destinations.js'
import { plainText } from '../../src/report/safe-text.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import type { Workflow } from '../../src/workflow/direct-workflows.js'
import type { MatcherInput, Perhaps } from '../received.js'

/** What a world knows beside its log. */
export interface SandboxFacts {
  /** A sentence for each request of the app that was refused, or that nobody answered, safe to print. */
  readonly refused: readonly string[]
  /** Whether a url is registered by now. */
  readonly answersAt: (url: string) => boolean
  /** What handlers threw. */
  readonly errors: readonly unknown[]
  /** A sentence for each fault, script and verb that nothing met, safe to print. */
  readonly unused: readonly string[]
}

/** A sandbox, a copy of one on a server, or what a log says of its world; any part may be missing. */
interface UnknownRemote extends Perhaps<Sandbox, 'realHostRequests'> {
  readonly destinations?: Perhaps<Destinations, 'errors' | 'unused'> & Partial<Pick<Destinations, 'responderAt'>>
  readonly faults?: Perhaps<Sandbox['faults'], 'unused'>
  readonly outbound?: Perhaps<Outbound, 'errors' | 'unused' | 'unhandled' | 'unanswered'>
  /** Of both regions. */
  readonly workflows?: readonly Perhaps<Workflow, 'unused'>[]
}

/** How the note of an attempt begins that met nobody. */
export const wasUnhandled: RegExp = /^(?:No destination responds at |Delivery to )/

/** How the note of a request begins that was refused for a token which came from a variable that the test had set. */
export const otherToken = "This is not the sandbox's token"

/** Facts of the world that evidence comes from, empty when it is only a log. */
export function sandboxOf({ received, context, entries }: MatcherInput): SandboxFacts {
  const given = (received ?? {}) as UnknownRemote
  const world = given.faults === undefined ? ((context.world?.() ?? {}) as UnknownRemote) : given
  const errors = [world.destinations, world.outbound].flatMap((owner) => listOf(owner?.errors, owner))
  const { realHostRequests, outbound: calls, destinations } = world
  // A server forwards nothing: what is not registered there got no answer.
  const outbound = listOf(calls?.unanswered ?? calls?.unhandled, calls)
  return {
    refused: [...listOf(realHostRequests, world), ...outbound].map(asLine),
    answersAt: (url) => destinations?.responderAt?.(url) !== undefined,
    errors,
    unused: unusedIn(world, entries),
  }
}

function asLine(sentence: unknown): string {
  return plainText(String(sentence))
}

/** What was prepared and never met, as sentences. */
function unusedIn(
  { destinations, outbound, faults, workflows = [] }: UnknownRemote,
  log: MatcherInput['entries'],
): string[] {
  return [
    ...unmet(destinations, 'delivery', log),
    ...unmet(outbound, 'call', log),
    ...(listOf(faults?.unused, faults) as Perhaps<Sandbox['faults']['unused'][number], 'message'>[]).map(
      ({ message }) => String(message),
    ),
    ...workflows.flatMap((workflow) => listOf(workflow.unused, workflow).map(String)),
  ].map(plainText)
}

function unmet(owner: UnknownRemote['outbound'], what: 'delivery' | 'call', log: MatcherInput['entries']): string[] {
  return (listOf(owner?.unused, owner) as UnusedSteps[]).map((script) => unplayedText(script, what, log))
}

/** Some views offer a list, others a function that makes one. */
export function listOf(given: unknown, owner: unknown): readonly unknown[] {
  const list = typeof given === 'function' ? given.call(owner) : given
  return Array.isArray(list) ? list : []
}
