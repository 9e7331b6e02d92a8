// Sends requests for the management API of the vendor to the URL in UPSTASH_API_URL. Load it into a process whose code
// you cannot change: node --import ./to-stuntdouble.mjs …
const { UPSTASH_API_URL: to } = process.env
const from = 'https://api.upstash.com'
const { fetch } = globalThis

globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  if (!url.startsWith(`${from}/`)) return fetch(input, init)
  // Without a URL, the request fails. It must not reach the vendor.
  const target = new URL(to + url.slice(from.length))
  return fetch(input instanceof Request ? new Request(target, input) : target, init)
}
