export type Fetch = typeof globalThis.fetch
export type FetchInput = Parameters<Fetch>[0]

/** Passes a request to the previous global `fetch`. Rejects if there was none. */
export type Pass = () => Promise<Response>

/** One replacement of the global `fetch`, on top of the previous one. */
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

/**
 * Removes the uppermost layers that have ended. A layer that other code has wrapped stays and passes every request on.
 */
function unwind(): void {
  for (;;) {
    const top = layers.get(globalThis.fetch)
    if (top === undefined || top.active) return
    if (top.previous) globalThis.fetch = top.previous
    else Reflect.deleteProperty(globalThis, 'fetch')
  }
}

function noFetch(url: string): Error {
  return new TypeError(`${url} is not a URL of the sandbox, and there was no global fetch to pass it to.`)
}
