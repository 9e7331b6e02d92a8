// Clients over node:http never call a replaced `fetch`, but they look up the host name, and that can fail with an
// explanation. Browsers have no such look-up.

type Callback = (error: Error | null, ...found: unknown[]) => void
type Lookup = (hostname: string, ...rest: [Callback] | [options: unknown, Callback]) => void

/** Returns the error for a host name, or `undefined` to let the look-up pass. */
export type Refuse = (hostname: string) => Error | undefined

interface Dns {
  lookup: Lookup
}

const refusals = new Set<Refuse>()
let original: Lookup | undefined

/** Makes look-ups of some host names fail with an error of this package, until the returned function is called. */
export function refuseLookups(refuse: Refuse): () => void {
  const dns = (
    globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } }
  ).process?.getBuiltinModule?.('node:dns') as Dns | undefined
  if (dns === undefined) return () => {}
  if (refusals.size === 0) {
    original = dns.lookup
    dns.lookup = watched(original)
  }
  refusals.add(refuse)
  return () => {
    if (!refusals.delete(refuse) || refusals.size > 0) return
    // Other code may have wrapped the function. Without refusals, it passes every look-up.
    if (Object.hasOwn(dns.lookup, ours)) dns.lookup = original!
  }
}

const ours = Symbol('stuntdouble.lookup')

function watched(lookup: Lookup): Lookup {
  const replacement: Lookup = (hostname, ...rest) => {
    // A look-up of an IP address precedes listening on it, so it must pass. Connections do not look up IP addresses.
    for (const refuse of isAddress(hostname) ? [] : refusals) {
      const error = refuse(hostname)
      if (error === undefined) continue
      const callback = rest.at(-1) as Callback
      queueMicrotask(() => callback(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })))
      return
    }
    lookup(hostname, ...rest)
  }
  // The copied properties include the promise form for util.promisify().
  Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(lookup))
  return Object.defineProperty(replacement, ours, { value: true })
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|:/.test(String(hostname))
}
