import { dateOf } from './instant.js'

/** Maximum depth of a copy. Deeper data is shared with the original. */
export const deepest = 500

/**
 * Copies data and reads each field only once, because the original may change later or return another value on the next
 * read.
 * Functions and objects of host classes are shared with the original.
 */
export function deepCopy<T>(given: T): T {
  if (typeof given !== 'object' || given === null) return given
  return copyOf(given, 0, new Map()) as T
}

/**
 * @param depth number of objects that contain this value
 * @param known copies that were already made, by original; data may contain cycles
 */
function copyOf(given: unknown, depth: number, known: Map<object, unknown>): unknown {
  if (typeof given !== 'object' || given === null || depth > deepest) return given
  const copy = known.get(given)
  if (copy !== undefined) return copy
  if (Array.isArray(given)) {
    const items: unknown[] = []
    known.set(given, items)
    for (const item of given) items.push(copyOf(item, depth + 1, known))
    return items
  }
  const one = copyOfOne(given)
  if (one !== undefined) return one
  // JSON contains only the result of `toJSON`, so copy that result.
  const { toJSON } = given as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') {
    let json: unknown
    const copy = { toJSON: () => json }
    known.set(given, copy)
    json = copyOf(toJSON.call(given, ''), depth + 1, known)
    return copy
  }
  const fields: Record<string, unknown> = {}
  known.set(given, fields)
  for (const name of Object.keys(given)) {
    const value = copyOf((given as Record<string, unknown>)[name], depth + 1, known)
    if (name !== '__proto__') fields[name] = value
    // An assignment to `__proto__` would set the prototype instead of a field.
    else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return fields
}

/**
 * Copies an object of a class, or returns the object itself if it must be shared. Returns `undefined` for a plain
 * object.
 */
function copyOfOne(given: object): unknown {
  // `slice()` of a Buffer would share the memory of the original.
  if (given instanceof Uint8Array) return Uint8Array.prototype.slice.call(given)
  if (given instanceof Response) return given.bodyUsed || given.body?.locked === true ? given : given.clone()
  if (given instanceof URL) return new URL(given)
  const tag = Object.prototype.toString.call(given)
  if (ArrayBuffer.isView(given) || tag === '[object ArrayBuffer]') return structuredClone(given)
  if (tag === '[object Date]') return dateOf(Number(given))
  if (tag !== '[object Object]') return given
  // An object with a `fetch` method is an app, which is code and not data.
  return 'fetch' in given ? given : undefined
}
