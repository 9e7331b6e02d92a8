// Sends requests for the management API of the vendor to the URL in UPSTASH_API_URL. Load it into a process whose code
// you cannot change: node --import ./to-stuntdouble.mjs …
const { UPSTASH_API_URL: to } = process.env
if (to === undefined) throw new Error('Set UPSTASH_API_URL to the URL of the management API of a stuntdouble server.')
const { fetch } = globalThis

globalThis.fetch = async (input, init) => {
  const { hostname, pathname, search } = new URL(input instanceof Request ? input.url : input)
  // Only the host name counts, so that no other spelling of the URL reaches the vendor.
  if (hostname.replace(/\.$/, '') !== 'api.upstash.com') return fetch(input, init)
  const target = to + pathname + search
  return fetch(input instanceof Request ? new Request(target, input) : target, init)
}
