// Code that the figures of the data store share.
import { createSandbox } from 'stuntdouble'
import type { StoreEngine } from '../src/store/store-engine.ts'
import { each, type Variant } from './harness.ts'

export type { StoreEngine }
export type Argv = Parameters<StoreEngine['execute']>[0]

/** Returns the engine of `sandbox.store`. */
export function engineOf(store: object): StoreEngine {
  return (store as { readonly [behind]: { readonly engine: StoreEngine } })[behind].engine
}
const behind = Symbol.for('stuntdouble.store')

/**
 * Creates a data store without a sandbox, which would write every change of a key to the traffic log. The peers in
 * these figures have no log either.
 */
export function loneStore(): StoreEngine {
  const engine = engineOf(createSandbox().store)
  const LoneStore = engine.constructor as new (options: StoreEngine['options']) => StoreEngine
  return new LoneStore(engine.options)
}

/** Returns a command as the store takes it; its arguments are ASCII. */
export function words(...argv: readonly (string | number)[]): Argv {
  return argv.map(String) as unknown as Argv
}

/** Returns `count` keys as apps write them, in an order that suits neither an allocator nor a cache. */
export function keysOf(count: number): readonly string[] {
  return shuffled(Array.from({ length: count }, (_, index) => `user:${index}:session`))
}

export function shuffled<T>(items: readonly T[]): T[] {
  const copy = [...items]
  let state = 1
  for (let last = copy.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    const other = state % (last + 1)
    const kept = copy[last]!
    copy[last] = copy[other]!
    copy[other] = kept
  }
  return copy
}

/** Runs commands on a store, cyclically. */
export function executing(name: string, store: StoreEngine, rows: readonly Argv[]): Variant {
  return each(name, rows, (row) => store.execute(row))
}

/** Returns a store that contains all the keys, so that GET finds values and other commands create nothing. */
export function filled(rows: readonly Argv[]): StoreEngine {
  const store = loneStore()
  for (const row of rows) store.execute(row[0] === ('GET' as unknown) ? words('SET', row[1]!, 'value') : row)
  return store
}
