// What the figures of the data store have in common.
import { createSandbox } from 'stuntdouble'
import type { StoreEngine } from '../src/store/store-engine.ts'
import { each, type Variant } from './harness.ts'

export type { StoreEngine }
export type Argv = Parameters<StoreEngine['execute']>[0]

/** The engine behind `sandbox.store`. */
export function engineOf(store: object): StoreEngine {
  return (store as { readonly [behind]: { readonly engine: StoreEngine } })[behind].engine
}
const behind = Symbol.for('stuntdouble.store')

/**
 * A data store without a sandbox around it, which would write every change of a key into the traffic log: what is
 * compared with it here keeps no log either.
 */
export function loneStore(): StoreEngine {
  const engine = engineOf(createSandbox().store)
  const LoneStore = engine.constructor as new (options: StoreEngine['options']) => StoreEngine
  return new LoneStore(engine.options)
}

/** A command as the store takes it; its words are ASCII here. */
export function words(...argv: readonly (string | number)[]): Argv {
  return argv.map(String) as unknown as Argv
}

/** `count` keys as applications write them, in an order that no allocator and no cache knows. */
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

/** Runs rows of words on a store, round and round. */
export function executing(name: string, store: StoreEngine, rows: readonly Argv[]): Variant {
  return each(name, rows, (row) => store.execute(row))
}

/** A store that knows all the keys already: GET finds something, and nothing is made anew by the others. */
export function filled(rows: readonly Argv[]): StoreEngine {
  const store = loneStore()
  for (const row of rows) store.execute(row[0] === ('GET' as unknown) ? words('SET', row[1]!, 'value') : row)
  return store
}
