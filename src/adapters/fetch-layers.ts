export type Fetch = typeof globalThis.fetch
export type FetchInput = Parameters<Fetch>[0]

/** Hands a request on to the `fetch` that was there before; rejects when there was none. */
export type Pass = () => Promise<Response>

/** One replacement of the global `fetch`, on top of what was there before. */
interface Layer {
  readonly previous: Fetch | undefined
  active: boolean
}

const layers = new WeakMap<Fetch, Layer>()

/**
 * Lays a `fetch` over the global one. Several may lie on top of each other and end in any order.
 * @returns what ends it
 */
export function layOver(
  answer: (url: string, input: FetchInput, init: RequestInit | undefined, pass: Pass) => Promise<Response>,
): () => void {
  const layer: Layer = { previous: globalThis.fetch, active: true }
  const replacement: Fetch = (input, init) => {
    const url = urlOf(input)
    // Called on the global object, for a host's fetch that insists on it.
    const pass = (): Promise<Response> =>
      layer.previous ? layer.previous.call(globalThis, input, init) : Promise.reject(noFetch(url))
    return layer.active ? answer(url, input, init, pass) : pass()
  }
  layers.set(replacement, layer)
  globalThis.fetch = replacement
  return () => {
    layer.active = false
    unwind()
  }
}

export function methodOf(input: FetchInput, init: RequestInit | undefined): string {
  const given = init?.method ?? (typeof input === 'object' && 'method' in input ? input.method : 'GET')
  return given.toUpperCase()
}

function urlOf(input: FetchInput): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
}

/** Takes ended layers off the top. One that somebody else has wrapped stays, and passes everything through. */
function unwind(): void {
  for (;;) {
    const top = layers.get(globalThis.fetch)
    if (top === undefined || top.active) return
    if (top.previous) globalThis.fetch = top.previous
    else Reflect.deleteProperty(globalThis, 'fetch')
  }
}

function noFetch(url: string): Error {
  return new TypeError(`${url} is not an address of the sandbox, and there was no global fetch to pass it on to.`)
}
