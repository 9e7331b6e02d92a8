export type Fetch = typeof globalThis.fetch
export type FetchInput = Parameters<Fetch>[0]

/** Sends the request with the `fetch` that was replaced. The promise rejects if the host had no global `fetch`. */
export type Pass = () => Promise<Response>

/** A replacement of the global `fetch`. A later replacement wraps an earlier one. */
interface Layer {
  readonly previous: Fetch | undefined
  active: boolean
}

const layers = new WeakMap<Fetch, Layer>()

/**
 * Replaces the global `fetch`. Several replacements can be active, and they can end in any order.
 * @returns a function that ends the replacement
 */
export function layOver(
  answer: (url: string, input: FetchInput, init: RequestInit | undefined, pass: Pass) => Promise<Response>,
): () => void {
  const layer: Layer = { previous: globalThis.fetch, active: true }
  const replacement: Fetch = (input, init) => {
    const url = urlOf(input)
    // Some hosts require that `fetch` is called as a method of the global object.
    const pass = (): Promise<Response> =>
      layer.previous ? layer.previous.call(globalThis, input, init) : Promise.reject(noFetch(url))
    return layer.active ? answer(url, input, init, pass) : pass()
  }
  layers.set(replacement, layer)
  globalThis.fetch = replacement
  return () => {
    layer.active = false
    removeEndedLayers()
  }
}

export function methodOf(input: FetchInput, init: RequestInit | undefined): string {
  const given = init?.method ?? (typeof input === 'object' && 'method' in input ? input.method : 'GET')
  return given.toUpperCase()
}

function urlOf(input: FetchInput): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
}

/**
 * Removes each ended replacement that is now the global `fetch`. If other code has wrapped a replacement, the
 * replacement stays installed and passes all requests to the previous `fetch`.
 */
export function removeEndedLayers(): void {
  for (;;) {
    const top = layers.get(globalThis.fetch)
    if (top === undefined || top.active) return
    if (top.previous) globalThis.fetch = top.previous
    else Reflect.deleteProperty(globalThis, 'fetch')
  }
}

function noFetch(url: string): Error {
  return new TypeError(
    `fetch(): ${url} does not belong to the sandbox, and this host has no global fetch for other URLs. Use a URL of sandbox.urls.`,
  )
}
