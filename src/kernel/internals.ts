/**
 * Access to the internal data of a public object, which is hidden in code completion and when the object is printed.
 * Only code of this package may use it.
 * The data is stored under a symbol that all copies of the package share, not in a private field. The package may be
 * loaded twice, as ESM and as CommonJS, and each copy can receive sandboxes of the other.
 */
export interface Internals<PublicObject extends object, Content> {
  /** Attaches the data. Called once, in the constructor of the public object. */
  readonly attach: (publicObject: PublicObject, content: Content) => void
  readonly of: (publicObject: PublicObject) => Content
  /** Returns the data, or `undefined` for other values. */
  readonly find: (value: unknown) => Content | undefined
}

/** @param name name of the public object, such as `store`; it must be unique, because the symbol is derived from it */
export function internals<PublicObject extends object, Content>(name: string): Internals<PublicObject, Content> {
  const key = Symbol.for(`stuntdouble.${name}`)
  type Attached = { readonly [key]?: Content } | null | undefined
  return {
    attach: (publicObject, content) => void Object.defineProperty(publicObject, key, { value: content }),
    of: (publicObject) => (publicObject as Attached)![key]!,
    find: (value) => (value as Attached)?.[key],
  }
}
