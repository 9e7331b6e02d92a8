/**
 * What stands behind a public face, for the rest of the house: neither completion nor a printed face shows it. It has a
 * name and no private field: the package may be there twice, as a module and as CommonJS, and each hands the other its
 * worlds.
 */
export interface Behind<Face extends object, Inside> {
  readonly put: (face: Face, inside: Inside) => void
  readonly of: (face: Face) => Inside
  /** `undefined` for what is no such face. */
  readonly find: (given: unknown) => Inside | undefined
}

export function behind<Face extends object, Inside>(name: string): Behind<Face, Inside> {
  const key = Symbol.for(`stuntdouble.${name}`)
  const find = (given: unknown): Inside | undefined => (given as { readonly [key]?: Inside } | null | undefined)?.[key]
  return {
    put: (face, inside) => void Object.defineProperty(face, key, { value: inside }),
    of: (face) => find(face)!,
    find,
  }
}
