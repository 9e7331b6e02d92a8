import { UsageError } from '@stuntdouble/command-line'
import { AddressPattern } from '../../../../src/kernel/address-pattern.js'
import { isRealHost } from '../../../../src/protocol/dialect.js'
import { networkErrors } from '../../../../src/queue/destinations/delivery-script.js'
import type { DestinationResponse } from '../../../../src/queue/destinations/destination-responses.js'
import { networkErrorText } from '../../../../src/queue/destinations/raw-response.js'
import type { Attempt } from '../../../../src/queue/message/message-entries.js'
import { isLoopback } from '../../../../src/queue/settings/url.js'
import type { PlayOptions } from '../../../../src/scenarios/play-scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'

interface Limits {
  /** Hosts that are allowed in addition to this machine. */
  readonly deliver: string | undefined
  /** Timeout of one response, in milliseconds of host time. */
  readonly timeout: number
}

export interface LiveApplication {
  /** Returns an error message if all deliveries failed because nothing listens at the URL; otherwise `undefined`. */
  silence(): string | undefined
}

/**
 * Sends the deliveries of a scenario to a running app. If the app's URL has a path, all deliveries go to this URL, and
 * the scenario must have only one destination. If the app's URL has no path, each delivery or callback keeps the path
 * of its destination.
 */
export function liveDestinations(
  scenario: Scenario,
  to: string,
  limits: Limits,
): Pick<PlayOptions, 'setup' | 'elsewhere' | 'sandbox'> & LiveApplication {
  const target = targetOf(to, limits.deliver)
  const routes = routesOf(scenario, target)
  const reached = { refused: 0, taken: 0 }
  const send = async (delivery: Attempt, address: string): Promise<DestinationResponse> => {
    const answer = await forwarded(delivery, address, limits.timeout)
    const isRefused = typeof answer === 'object' && 'kind' in answer && absent.includes(answer.kind)
    reached[isRefused ? 'refused' : 'taken']++
    return answer
  }
  return {
    // `--timeout` already limits how long the app may take, so switch off the stall timeout of handlers.
    sandbox: { policy: { handlerStallTimeout: undefined } },
    elsewhere: (pattern) => {
      const taken = new AddressPattern(pattern)
      return [...routes.keys()].some((url) => taken.matches(url))
    },
    setup: ({ destinations }) => {
      for (const [url, address] of routes)
        destinations.respond(url, (delivery) => send(delivery, address(delivery.url)))
    },
    silence: () => {
      if (reached.taken > 0 || reached.refused === 0) return undefined
      return `--to: nothing listens at ${target.origin}. Start the app first, or use another URL.`
    },
  }
}

/** Kinds of network errors that mean that nothing listens at the URL. */
const absent: readonly string[] = ['refused', 'unresolved-host']

function targetOf(to: string, deliver: string | undefined): URL {
  if (!/^https?:\/\//.test(to) || !URL.canParse(to)) {
    throw new UsageError(`--to must be a URL such as http://localhost:3000/api/orders (got ${JSON.stringify(to)}).`)
  }
  const target = new URL(to)
  const host = target.hostname
  const named = (deliver ?? '').split(',').map((name) => name.trim())
  if (isLoopback(host) || named.includes(host) || named.includes(target.host)) return target
  if (named.includes('any') && !isRealHost(host)) return target
  throw new UsageError(`--to: ${host} is not this machine. Add --deliver-to ${host} to deliver to it on purpose.`)
}

/**
 * Returns the URL patterns of the scenario's destinations, each with a function. The function converts the URL of a
 * delivery to the URL of the app.
 */
function routesOf(scenario: Scenario, target: URL): ReadonlyMap<string, (url: string) => string> {
  const { messages, callbacks } = urlsOf(scenario)
  if (target.pathname === '/' && target.search === '') {
    return new Map([...messages, ...callbacks].map((pattern) => [pattern, (url) => addressAt(target, url)]))
  }
  if (messages.size > 1) {
    throw new UsageError(
      `--to must not have a path, because the scenario delivers to ${messages.size} URLs: ${[...messages].slice(0, 5).join(', ')}. Use --to ${target.origin}, so that each URL keeps its path.`,
    )
  }
  return new Map([...messages].map((pattern) => [pattern, () => target.href]))
}

function addressAt(target: URL, url: string): string {
  const { pathname, search } = new URL(url)
  return `${target.origin}${pathname}${search}`
}

function urlsOf({ given, steps = [] }: Scenario): {
  readonly messages: ReadonlySet<string>
  readonly callbacks: ReadonlySet<string>
} {
  const messages = new Set<string>()
  const callbacks = new Set<string>()
  const groups = { ...given?.urlGroups }
  for (const step of steps) if ('addEndpoints' in step) groups[step.addEndpoints.name] = step.addEndpoints.endpoints
  const sends = [
    ...(given?.schedules ?? []),
    ...steps.flatMap((step) => ('publish' in step ? step.publish : 'schedule' in step ? step.schedule : [])),
  ]
  for (const { to, callback, failureCallback } of sends) {
    const members = Object.hasOwn(groups, to) ? groups[to]! : [to]
    for (const member of members) messages.add(patternOf(typeof member === 'string' ? member : member.url))
    for (const url of [callback, failureCallback]) if (url !== undefined) callbacks.add(patternOf(url))
  }
  return { messages, callbacks }
}

/** Replaces `{n}` by a wildcard. In a step with `times`, each message has its own number in the place of `{n}`. */
function patternOf(url: string): string {
  return url.replaceAll('{n}', '*')
}

/** Sends a delivery over the network. A network error becomes the result of the attempt. */
async function forwarded(delivery: Attempt, address: string, timeout: number): Promise<DestinationResponse> {
  const { method } = delivery
  try {
    return await fetch(address, {
      method,
      headers: delivery.headers as [string, string][],
      body: method === 'GET' ? null : delivery.bytes,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeout),
    })
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') return { kind: 'hang' }
    const text = networkErrorText(error)
    if (text === networkErrors.refused) return { kind: 'refused' }
    return text === networkErrors.unresolved ? { kind: 'unresolved-host' } : { kind: 'reset' }
  }
}
