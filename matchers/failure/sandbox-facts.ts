import type { Outbound } from '../../src/calls/outbound.js'
import { type UnusedSteps, unplayedText } from '../../src/kernel/unused-script.js'
import type { Destinations } from '../../src/queue/destinations/destinations.js'
import { plainText } from '../../src/report/safe-text.js'
import type { Sandbox } from '../../src/sandbox/sandbox.js'
import type { Workflow } from '../../src/workflow/direct-workflows.js'
import type { MatcherInput, Perhaps } from '../received.js'

/** Facts about a sandbox that its log does not contain. */
export interface SandboxFacts {
  /** One line per rejected or unhandled request of the app, safe to print. */
  readonly refused: readonly string[]
  /** Returns whether a URL has a destination now. */
  readonly answersAt: (url: string) => boolean
  /** Errors of handlers. */
  readonly errors: readonly unknown[]
  /** One line per unused fault, script or stub, safe to print. */
  readonly unused: readonly string[]
}

/** A sandbox, a snapshot of a sandbox on a server, or the context of a log. Any member may be missing. */
interface UnknownRemote extends Perhaps<Sandbox, 'realHostRequests'> {
  readonly destinations?: Perhaps<Destinations, 'errors' | 'unused'> & Partial<Pick<Destinations, 'responderAt'>>
  readonly faults?: Perhaps<Sandbox['faults'], 'unused'>
  readonly outbound?: Perhaps<Outbound, 'errors' | 'unused' | 'unhandled' | 'unanswered'>
  /** The workflows of both regions. */
  readonly workflows?: readonly Perhaps<Workflow, 'unused'>[]
}

export const wasUnhandled: RegExp = /^(?:No destination responds at |Delivery to )/

/**
 * Beginning of the note of a rejected request whose token came from an environment variable that the test had changed.
 */
export const otherToken = "This is not the sandbox's token"

/** Returns the facts about the sandbox whose traffic was checked. If only a log was checked, the lists are empty. */
export function sandboxOf({ received, context, entries }: MatcherInput): SandboxFacts {
  const given = (received ?? {}) as UnknownRemote
  const world = given.faults === undefined ? ((context.world?.() ?? {}) as UnknownRemote) : given
  const errors = [world.destinations, world.outbound].flatMap((owner) => listOf(owner?.errors, owner))
  const { realHostRequests, outbound: calls, destinations } = world
  // A server never forwards requests to the network, so a request to an unregistered host got no response.
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

/**
 * Returns the value of a member that is a list in a local object, and a function that returns the list in a remote
 * object.
 */
export function listOf(given: unknown, owner: unknown): readonly unknown[] {
  const list = typeof given === 'function' ? given.call(owner) : given
  return Array.isArray(list) ? list : []
}
