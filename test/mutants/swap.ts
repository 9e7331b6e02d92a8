/** Replaces a real part, and returns a function that restores it. */
export type Swap = () => () => void

/** A replacement. It receives the owner, the real part and the arguments of the call. */
type Part<T, V> = V extends (...given: infer A) => infer R
  ? (owner: T, real: (...given: A) => R, ...given: A) => R
  : (owner: T, real: () => V) => V

type Loose = (...given: unknown[]) => unknown

const inPlaceOf = new WeakMap<Loose, Loose>()

/**
 * Replaces a method or a getter of a prototype, an entry of a table, or a function of a module that `swappable` has
 * prepared. The compiler checks its name and its arguments.
 * @example swap(FifoQueue.prototype, 'admit', (queue, admit) => (queue.name === 'closed' ? undefined : admit()))
 */
export function swap<T extends object, K extends keyof T>(owner: T, name: K, part: Part<T, T[K]>): Swap {
  const make = part as (owner: unknown, real: Loose, ...given: unknown[]) => unknown
  const inPlace = (real: Loose): Loose =>
    function (this: unknown, ...given: unknown[]) {
      return make(this, (...passed) => real.apply(this, passed), ...given)
    }
  return () => {
    const before = Object.getOwnPropertyDescriptor(owner, name)
    if (before === undefined) throw new Error(`There is no part ${String(name)} to be swapped.`)
    const method = methodOf(owner, name)
    if (before.get !== undefined && method !== undefined) {
      Object.defineProperty(owner, name, { configurable: true, writable: true, value: inPlace(method) })
      return () => Object.defineProperty(owner, name, before)
    }
    const real = (before.get ?? before.value) as Loose
    const behind = inPlaceOf.get(real)
    if (behind !== undefined) {
      inPlaceOf.set(real, inPlace(behind))
      return () => inPlaceOf.set(real, behind)
    }
    Object.defineProperty(owner, name, { ...before, [before.get ? 'get' : 'value']: inPlace(real) })
    return () => Object.defineProperty(owner, name, before)
  }
}

/**
 * Returns the method behind a getter. A method that works without its object is defined by a getter, which returns the
 * plain method when it is read from the prototype.
 */
function methodOf<T extends object>(owner: T, name: keyof T): Loose | undefined {
  try {
    const found: unknown = owner[name]
    return typeof found === 'function' ? (found as Loose) : undefined
  } catch {
    // A getter of instances throws when it is read from the prototype.
    return undefined
  }
}

/**
 * Wraps a module, so that its functions can be swapped for all importers.
 * @example vi.mock('../../src/queue/delivery/retry.js', async (real) => swappable(await real()))
 */
export function swappable<M extends object>(module: M): M {
  const parts = Object.entries(module).map(([name, value]) => [name, isFunction(value) ? forwarder(value) : value])
  return Object.fromEntries(parts) as M
}

function isFunction(value: unknown): value is Loose {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value))
}

function forwarder(real: Loose): Loose {
  const forward: Loose = (...given) => inPlaceOf.get(forward)!(...given)
  inPlaceOf.set(forward, real)
  return forward
}

/** Combines several swaps. */
export function together(swaps: readonly Swap[]): Swap {
  return () => {
    const undo = swaps.map((put) => put())
    return () => {
      for (const back of undo.reverse()) back()
    }
  }
}

/** Runs a function while a swap is in effect. */
export async function during<R>(put: Swap, run: () => R | Promise<R>): Promise<R> {
  const back = put()
  try {
    return await run()
  } finally {
    back()
  }
}
