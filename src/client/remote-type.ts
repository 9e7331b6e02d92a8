/** A method or property of a remote object: the same arguments, and a promise of the result. */
export type RemoteMember<T> = [T] extends [(...given: never[]) => unknown]
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
export type Remote<T, Names extends keyof T> = { readonly [Name in Names]: RemoteMember<T[Name]> }
