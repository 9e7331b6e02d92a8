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
 * A read-only view of an internal object. Each field of a view is a getter of the view itself, which reads the internal
 * object on each access. Test runners compare, copy and print only fields of the object itself, so getters of a class
 * would be invisible to them.
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
 * Returns the getters of a view as property descriptors.
 * @param readers function for each field, which reads the value from the internal object
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
