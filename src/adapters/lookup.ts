// A client over `node:http` never calls a replaced `fetch`, but it looks up the host name. The functions of this file
// make that look-up fail with an error that explains the cause. Browsers have no such look-up.

type Callback = (error: Error | null, ...found: unknown[]) => void
type Lookup = (hostname: string, ...rest: [Callback] | [options: unknown, Callback]) => void

/** Returns the error with which the look-up of a host name fails, or `undefined` if the look-up is allowed. */
export type Refuse = (hostname: string) => Error | undefined

interface Dns {
  lookup: Lookup
}

const refusals = new Set<Refuse>()
let original: Lookup | undefined

/** Makes look-ups fail with the errors that `refuse` returns. @returns a function that allows these look-ups again */
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
    // If other code has wrapped the replaced `dns.lookup`, the wrapper stays installed. The wrapper then calls a
    // replacement that allows every look-up.
    if (Object.hasOwn(dns.lookup, ours)) dns.lookup = original!
  }
}

const ours = Symbol('stuntdouble.lookup')

function watched(lookup: Lookup): Lookup {
  const replacement: Lookup = (hostname, ...rest) => {
    // A server looks up the IP address on which it listens, so look-ups of IP addresses never fail here. A client that
    // connects to an IP address makes no look-up.
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
