// A client over node:http never calls a replaced `fetch`, but it looks up the host name.
// This look-up can fail with an error that explains the cause. Browsers have no such look-up.

type Callback = (error: Error | null, ...found: unknown[]) => void
type Lookup = (hostname: string, ...rest: [Callback] | [options: unknown, Callback]) => void

/** Returns the error for a host name, or `undefined` to let the look-up pass. */
export type Refuse = (hostname: string) => Error | undefined

interface Dns {
  lookup: Lookup
}

const refusals = new Set<Refuse>()
let original: Lookup | undefined

/** Makes look-ups fail with the errors of `refuse`. Returns a function that ends this. */
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
    // If other code has wrapped the replaced function, it stays installed and passes every look-up.
    if (Object.hasOwn(dns.lookup, ours)) dns.lookup = original!
  }
}

const ours = Symbol('stuntdouble.lookup')

function watched(lookup: Lookup): Lookup {
  const replacement: Lookup = (hostname, ...rest) => {
    // IP addresses are always looked up, because a server looks up the address on which it listens.
    // Connections to an IP address need no look-up.
    for (const refuse of isAddress(hostname) ? [] : refusals) {
      const error = refuse(hostname)
      if (error === undefined) continue
      const callback = rest.at(-1) as Callback
      queueMicrotask(() => callback(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })))
      return
    }
    lookup(hostname, ...rest)
  }
  // The copied properties include the promise form that `util.promisify()` uses.
  Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(lookup))
  return Object.defineProperty(replacement, ours, { value: true })
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|:/.test(String(hostname))
}
