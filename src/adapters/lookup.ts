import { builtin, hostPause, hostVariables } from '../kernel/host.js'

// A client over `node:http` never calls a replaced `fetch`, but it looks up the host name. The functions of this file
// make that look-up fail with an error that explains the cause. Browsers have no such look-up.

type Callback = (error: Error | null, ...found: unknown[]) => void
type Lookup = (hostname: string, ...rest: [Callback] | [options: unknown, Callback]) => void

/** Returns the error with which the look-up of a host name fails, or `undefined` if the look-up is allowed. */
export type Refuse = (hostname: string) => Error | undefined

type LookupPromise = (hostname: string, options?: unknown) => Promise<unknown>

interface Dns {
  lookup: Lookup
  readonly promises: { lookup: LookupPromise }
}

/**
 * Returns the functions that look up hosts, or `undefined` if there are none that can be replaced. Browsers have none. In
 * workerd, they are in a module that cannot be changed, and `fetch` ignores them.
 */
function findDns(): Dns | undefined {
  const dns = builtin('dns') as Dns | undefined
  return dns !== undefined && [dns, dns.promises].every(Object.isExtensible) ? dns : undefined
}

interface HostProcess {
  readonly versions?: { readonly bun?: string }
  readonly execArgv?: readonly string[]
}

/** `last`: errors that count only if no other function refuses the look-up. */
export type RefusalOrder = 'first' | 'last'

const refusals: Readonly<Record<RefusalOrder, Set<Refuse>>> = { first: new Set(), last: new Set() }
let original: { readonly lookup: Lookup; readonly promise: LookupPromise } | undefined

/**
 * Makes look-ups fail with the errors that `refuse` returns.
 * @param order if several functions refuse a look-up, the error of the oldest one with `first` counts
 * @returns a function that allows these look-ups again
 */
export function refuseLookups(refuse: Refuse, order: RefusalOrder = 'first'): () => void {
  const dns = findDns()
  if (dns === undefined) return () => {}
  if (original === undefined) {
    original = { lookup: dns.lookup, promise: dns.promises.lookup }
    dns.lookup = watched(original.lookup)
    dns.promises.lookup = watchedPromise(original.promise)
  }
  refusals[order].add(refuse)
  return () => {
    if (!refusals[order].delete(refuse) || refusals.first.size + refusals.last.size > 0) return
    // If other code has wrapped the replaced `dns.lookup`, the wrapper stays installed. The wrapper then calls a
    // replacement that allows every look-up.
    if (Object.hasOwn(dns.lookup, ours)) dns.lookup = original!.lookup
    if (Object.hasOwn(dns.promises.lookup, ours)) dns.promises.lookup = original!.promise
    original = undefined
  }
}

/**
 * Returns whether the host's own `fetch` looks up each host name in a way that `refuseLookups()` can refuse. Browsers,
 * Bun, Deno and Cloudflare Workers have look-ups of their own. If Node.js uses a proxy, only the proxy looks up the host.
 */
export function fetchLooksUpHosts(): boolean {
  const { process } = globalThis as { process?: HostProcess }
  if (findDns() === undefined || process?.versions?.bun !== undefined || 'Deno' in globalThis) return false
  return (
    hostVariables('NODE_USE_ENV_PROXY')?.NODE_USE_ENV_PROXY !== '1' && !process?.execArgv?.includes('--use-env-proxy')
  )
}

const ours = Symbol('stuntdouble.lookup')

/** Returns the error with which the look-up of a host name fails, or `undefined` if the look-up is allowed. */
function refused(hostname: string): Error | undefined {
  // A server looks up the IP address on which it listens, so look-ups of IP addresses never fail here. A client that
  // connects to an IP address makes no look-up.
  if (isAddress(hostname)) return undefined
  for (const refuse of [...refusals.first, ...refusals.last]) {
    const error = refuse(hostname)
    if (error !== undefined) return Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })
  }
  return undefined
}

function watched(lookup: Lookup): Lookup {
  const replacement: Lookup = (hostname, ...rest) => {
    const error = refused(hostname)
    if (error === undefined) return lookup(hostname, ...rest)
    const callback = rest.at(-1) as Callback
    // A real look-up takes turns of the event loop, too. Without them, a loop of requests would starve the host's timers.
    void hostPause().then(() => callback(error))
  }
  // The copied properties include the promise form that `util.promisify()` uses.
  Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(lookup))
  return Object.defineProperty(replacement, ours, { value: true })
}

/** Wraps `dns.promises.lookup`, with which Playwright's request contexts look up hosts. */
function watchedPromise(lookup: LookupPromise): LookupPromise {
  const replacement: LookupPromise = async (hostname, options) => {
    const error = refused(hostname)
    if (error === undefined) return lookup(hostname, options)
    await hostPause()
    throw error
  }
  return Object.defineProperty(replacement, ours, { value: true })
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|:/.test(String(hostname))
}
