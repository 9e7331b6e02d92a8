import { dateOf } from './instant.js'

/** Plain data is copied so deep; what is deeper stays what it is. */
export const deepest = 500

/**
 * A copy of data, each part of which is read once: what was given may change later, and differ each time it is read. Code
 * and what the host has classes for stay what they are.
 */
export function deepCopy<T>(given: T): T {
  if (typeof given !== 'object' || given === null) return given
  return copyOf(given, 0, new Map()) as T
}

/** @param known copies of objects that came before: data may go round in circles */
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
  // What an app has classes for is sent as JSON.
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
    // Here it is a name.
    else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return fields
}

/** What is no plain object; `undefined` for what is. */
function copyOfOne(given: object): unknown {
  // A Buffer's own slice() is the same memory.
  if (given instanceof Uint8Array) return Uint8Array.prototype.slice.call(given)
  if (given instanceof Response) return given.bodyUsed || given.body?.locked === true ? given : given.clone()
  if (given instanceof URL) return new URL(given)
  const tag = Object.prototype.toString.call(given)
  if (ArrayBuffer.isView(given) || tag === '[object ArrayBuffer]') return structuredClone(given)
  if (tag === '[object Date]') return dateOf(Number(given))
  if (tag !== '[object Object]') return given
  // An app that answers requests is code.
  return 'fetch' in given ? given : undefined
}
