import { type UnusedSteps, unplayedText } from '../../src/kernel/unused-script.js'
import { plainText } from '../../src/report/safe-text.js'
import type { MatcherInput } from '../received.js'

/** Facts of a sandbox that are not in its log. */
export interface SandboxFacts {
  /** A message for each rejected or unhandled request of the app, safe to print. */
  readonly refused: readonly string[]
  /** Returns whether a URL has a destination now. */
  readonly answersAt: (url: string) => boolean
  /** Errors of handlers. */
  readonly errors: readonly unknown[]
  /** A message for each unused fault, script and stub, safe to print. */
  readonly unused: readonly string[]
}

/** A sandbox, a copy of one on a server, or the context of a log. Any part may be missing. */
interface UnknownRemote {
  readonly destinations?: {
    readonly errors?: unknown
    readonly unused?: unknown
    responderAt?(url: string): unknown
  }
  readonly faults?: { readonly unused?: unknown }
  readonly outbound?: {
    readonly errors?: unknown
    readonly unused?: unknown
    readonly unhandled?: unknown
    readonly unanswered?: unknown
  }
  readonly realHostRequests?: unknown
  /** Of both regions. */
  readonly workflows?: readonly { readonly unused?: unknown }[]
}

/** Matches the note of an unhandled attempt. */
export const wasUnhandled: RegExp = /^(?:Nobody answers at |Delivery to )/

/** Start of the note of a request that was rejected for a token from a variable that the test had set. */
export const otherToken = "This is not the sandbox's token"

/** Returns facts of the sandbox that the evidence comes from. They are empty for a log. */
export function sandboxOf({ received, context, entries }: MatcherInput): SandboxFacts {
  const given = (received ?? {}) as UnknownRemote
  const world = given.faults === undefined ? ((context.world?.() ?? {}) as UnknownRemote) : given
  const errors = [world.destinations, world.outbound].flatMap((owner) => listOf(owner?.errors, owner))
  const { realHostRequests: strays, outbound: calls, destinations } = world
  // A server forwards nothing, so a request to an unregistered host got no response.
  const outbound = listOf(calls?.unanswered ?? calls?.unhandled, calls)
  return {
    refused: [...listOf(strays, world), ...outbound].map(asLine),
    answersAt: (url) => destinations?.responderAt?.(url) !== undefined,
    errors,
    unused: unusedIn(world, entries),
  }
}

function asLine(sentence: unknown): string {
  return plainText(String(sentence))
}

/** Returns a message for each unused script, fault and stub. */
function unusedIn(
  { destinations, outbound: calls, faults, workflows = [] }: UnknownRemote,
  log: MatcherInput['entries'],
): string[] {
  return [
    ...unmet(destinations, 'delivery', log),
    ...unmet(calls, 'call', log),
    ...(listOf(faults?.unused, faults) as { message?: unknown }[]).map(({ message }) => String(message)),
    ...workflows.flatMap((workflow) => listOf(workflow.unused, workflow).map(String)),
  ].map(plainText)
}

function unmet(owner: UnknownRemote['outbound'], what: 'delivery' | 'call', log: MatcherInput['entries']): string[] {
  return (listOf(owner?.unused, owner) as UnusedSteps[]).map((script) => unplayedText(script, what, log))
}

/** Returns a list from a view that has it as a value or as a function. */
export function listOf(given: unknown, owner: unknown): readonly unknown[] {
  const list = typeof given === 'function' ? given.call(owner) : given
  return Array.isArray(list) ? list : []
}
