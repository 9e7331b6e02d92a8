/**
 * Type of a method or property of a remote object. A method has the same arguments as the local one; the result is a
 * promise.
 */
export type RemoteMember<T> = [T] extends [(...given: never[]) => unknown]
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
export type Remote<T, Names extends keyof T> = { readonly [Name in Names]: RemoteMember<T[Name]> }
