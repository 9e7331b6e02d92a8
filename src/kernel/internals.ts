/**
 * What a public object keeps for other code of this package: neither completion nor a printed object shows it. This is
 * the only way to it. It is kept under a symbol that all copies of the package share, not in a private field: the package
 * may be loaded twice, as a module and as CommonJS, and each copy hands its sandboxes to the other.
 */
export interface Internals<PublicObject extends object, Content> {
  /** Called once, in the constructor of the public object. */
  readonly attach: (publicObject: PublicObject, content: Content) => void
  readonly of: (publicObject: PublicObject) => Content
  /** `undefined` for what is no such object. */
  readonly find: (value: unknown) => Content | undefined
}

/** @param name of the public object, such as `store`: one name, one content */
export function internals<PublicObject extends object, Content>(name: string): Internals<PublicObject, Content> {
  const key = Symbol.for(`stuntdouble.${name}`)
  type Attached = { readonly [key]?: Content } | null | undefined
  return {
    attach: (publicObject, content) => void Object.defineProperty(publicObject, key, { value: content }),
    of: (publicObject) => (publicObject as Attached)![key]!,
    find: (value) => (value as Attached)?.[key],
  }
}
