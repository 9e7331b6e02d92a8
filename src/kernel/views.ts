import { stated } from './portable.js'

/** Under this name Node looks for what `console.log()` shows of an object. */
const inspected = Symbol.for('nodejs.util.inspect.custom')

/** `console.log()` shows what the objects of a class are in JSON. */
export function loggedAsJson({ prototype }: { readonly prototype: { toJSON(): unknown } }): void {
  Object.defineProperty(prototype, inspected, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}

/**
 * What a sandbox hands out of something inside. Its own fields are all that can be seen of it, and each is read when it is
 * asked for. Test runners compare, copy and print own fields: a copy has the getters of a class, but not what is private.
 */
export class ReadonlyView {
  toJSON(): unknown {
    return stated({ ...this })
  }

  static {
    loggedAsJson(ReadonlyView)
  }
}

/** Own fields that read what stands behind an object. */
export function fieldsOf<Outer, Inner>(
  readers: Readonly<Record<string, (inner: Inner) => unknown>> | object,
  innerOf: (outer: Outer) => Inner,
): PropertyDescriptorMap {
  const fields: PropertyDescriptorMap = {}
  for (const [name, read] of Object.entries(readers) as [string, (inner: Inner) => unknown][]) {
    fields[name] = {
      enumerable: true,
      configurable: true,
      get(this: Outer) {
        return read(innerOf(this))
      },
    }
  }
  return fields
}
