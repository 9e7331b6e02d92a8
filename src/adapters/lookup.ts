// Clients over node:http never see a replaced `fetch`. They ask for the address of a host, and that is where they can be
// told. In a browser there is nothing of this.

type Callback = (error: Error | null, ...found: unknown[]) => void
type Lookup = (hostname: string, ...rest: [Callback] | [options: unknown, Callback]) => void

/** Says why a host has no address; `undefined` for hosts that are none of its business. */
export type Refuse = (hostname: string) => Error | undefined

interface Dns {
  lookup: Lookup
}

const refusals = new Set<Refuse>()
let original: Lookup | undefined

/** Lets connections to some hosts fail with an error of ours, until the returned function is called. */
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
    // Somebody who has wrapped it meanwhile keeps it: without refusals it passes everything on.
    if (Object.hasOwn(dns.lookup, ours)) dns.lookup = original!
  }
}

const ours = Symbol('stuntdouble.lookup')

function watched(lookup: Lookup): Lookup {
  const replacement: Lookup = (hostname, ...rest) => {
    // Who looks up what is an address already is about to listen there: connections do not.
    for (const refuse of isAddress(hostname) ? [] : refusals) {
      const error = refuse(hostname)
      if (error === undefined) continue
      const callback = rest.at(-1) as Callback
      queueMicrotask(() => callback(Object.assign(error, { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname })))
      return
    }
    lookup(hostname, ...rest)
  }
  // Among them the promise form for util.promisify().
  Object.defineProperties(replacement, Object.getOwnPropertyDescriptors(lookup))
  return Object.defineProperty(replacement, ours, { value: true })
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|:/.test(String(hostname))
}
