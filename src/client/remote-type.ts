/** A method or property as its remote twin: the same arguments, a promise of what it gives. */
export type RemoteMember<T> = [T] extends [(...given: never[]) => unknown]
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
export type Remote<T, Names extends keyof T> = { readonly [Name in Names]: RemoteMember<T[Name]> }
