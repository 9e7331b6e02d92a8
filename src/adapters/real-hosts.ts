import { hostPause } from '../kernel/host.js'
import { didYouMean } from '../kernel/nearest-name.js'
import { isRealHost, realServiceAt } from '../protocol/dialect.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import { layOver } from './fetch-layers.js'
import { fetchLooksUpHosts, type RefusalOrder, refuseLookups } from './lookup.js'

/** Whether requests to real hosts of the vendor are blocked. */
export interface RealHostOptions {
  /**
   * `block` (default): requests to the vendor's real hosts are rejected. `allow`: they go to the network. A sandbox of a
   * fixture has the choice of the fixture.
   */
  readonly realHosts?: 'allow' | 'block'
}

/** Members of a sandbox that the messages about blocked requests need. */
export type Blocking = Pick<Sandbox, 'urls'> &
  Allowing & {
    /** Called with a message about each blocked request to a real host. */
    readonly noteStray?: (sentence: string) => void
  }

interface Allowing {
  /** What the fixture of the sandbox has set. */
  readonly allowsRealHosts?: boolean
}

/** Returns whether requests to real hosts may reach the network. @throws TypeError for an invalid option */
export function mayReachRealHosts(sandbox: Allowing, { realHosts }: RealHostOptions): boolean {
  checkRealHosts(realHosts)
  return realHosts === undefined ? sandbox.allowsRealHosts === true : realHosts === 'allow'
}

const choices: readonly string[] = ['allow', 'block']

/** Checks the option `realHosts`. @throws TypeError for an unknown value */
export function checkRealHosts(given: unknown): void {
  if (given === undefined || (choices as readonly unknown[]).includes(given)) return
  throw new TypeError(
    `realHosts must be 'allow' or 'block' (got ${JSON.stringify(given) ?? String(given)}).${didYouMean(given, choices)}`,
  )
}

export function isRealUrl(url: string): boolean {
  return URL.canParse(url) && isRealHost(new URL(url).hostname)
}

/**
 * Concurrent tests without a sandbox. While one of them runs, it is unknown which test has sent a request to a real
 * host, so such a request must not fail the test of a sandbox.
 */
export const concurrentTestsWithoutSandbox: Set<object> = new Set()

/** Returns the beginning of each message about a blocked request. */
export function blockedSentence(host: string): string {
  return `A request to ${host}, a real host of the service, was blocked.`
}

/**
 * Records a blocked request in the sandbox and returns the message of its error. The sandbox reports the request at the
 * end of the test, because the app may swallow the error.
 */
export function strayed(host: string, { urls, noteStray }: Blocking): string {
  if (concurrentTestsWithoutSandbox.size > 0) {
    return `${blockedSentence(host)} Several tests run at the same time, and one of them sent it. Let each of them use the fixture sandbox, and pass sandbox.env to the app.`
  }
  const sentence =
    `${blockedSentence(host)} ` +
    `Point the client at the sandbox: ${urls[realServiceAt(host)]}, with the variables and tokens of sandbox.env. ` +
    'If a module creates the client when it is imported, call useSandbox() in a setup file. The setup file runs before the import.'
  noteStray?.(sentence)
  return sentence
}

/**
 * Rejects requests to real hosts that would reach the network. In Node.js, the look-up of the host fails, so mocks of
 * `fetch` and the handlers of msw and nock can still respond. Elsewhere, each such request of `fetch` is rejected.
 * @param refuse returns the message of the error, by host
 * @param order `last`: other code that blocks the host comes first, because its message knows a sandbox
 * @returns a function that ends the block
 */
export function blockRealHosts(refuse: (host: string) => string, order: RefusalOrder = 'first'): () => void {
  const own = new WeakSet<Error>()
  const blocked = (host: string): Error => {
    const error = new Error(refuse(host))
    own.add(error)
    return error
  }
  const endLookups = refuseLookups((hostname) => (isRealHost(hostname) ? blocked(hostname) : undefined), order)
  // An environment without `fetch`, such as jsdom, must not get one.
  if (globalThis.fetch === undefined) return endLookups
  const endLayer = layOver((url, _input, _init, pass) => {
    if (!isRealUrl(url)) return pass()
    return fetchLooksUpHosts()
      ? unwrapped(pass, own)
      : hostPause().then(() => Promise.reject(blocked(new URL(url).host)))
  })
  return () => {
    endLayer()
    endLookups()
  }
}

/** Sends a request. If its look-up was blocked, throws that error without the errors that `fetch` wraps it in. */
async function unwrapped(pass: () => Promise<Response>, own: WeakSet<Error>): Promise<Response> {
  try {
    return await pass()
  } catch (error) {
    for (let each = error; each instanceof Error; each = each.cause) if (own.has(each)) throw new Error(each.message)
    throw error
  }
}
