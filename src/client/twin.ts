/** A method or property as its remote twin: the same arguments, a promise of what it gives. */
export type Asked<T> = [T] extends [(...given: never[]) => unknown]
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
export type Twin<T, Names extends keyof T> = { readonly [Name in Names]: Asked<T[Name]> }
