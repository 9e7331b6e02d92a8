import { stated } from './portable.js'

/** Symbol of the method that Node.js calls for `console.log()`. */
const inspected = Symbol.for('nodejs.util.inspect.custom')

/** Makes `console.log()` show the objects of a class as JSON. */
export function loggedAsJson({ prototype }: { readonly prototype: { toJSON(): unknown } }): void {
  Object.defineProperty(prototype, inspected, {
    value(this: { toJSON(): unknown }) {
      return this.toJSON()
    },
  })
}

/**
 * A read-only view of an internal object.
 * All its visible fields are own getters, which read the internal object on each access. Test runners compare, copy and
 * print own fields. A copy of an object with getters in its class and private fields would lose the private fields.
 */
export class ReadonlyView {
  toJSON(): unknown {
    return stated({ ...this })
  }

  static {
    loggedAsJson(ReadonlyView)
  }
}

/**
 * Returns descriptors of getters that read from the internal object behind a view.
 * @param readers a function per field name
 */
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
