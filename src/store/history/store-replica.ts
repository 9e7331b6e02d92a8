import { bytesOf, type PortableString } from '../../kernel/portable.js'
import type { Random } from '../../kernel/random.js'
import { AccessControl } from '../access/access-control.js'
import { ReplyError } from '../command/reply.js'
import { loadInto } from '../dump/snapshot.js'
import type { StoreDump } from '../dump/store-dump.js'
import type { ExecutedCommand } from '../executed-command.js'
import { StoreEngine } from '../store-engine.js'
import type { StoreOptions } from '../store-options.js'

/** Initial state of a store. */
export interface StoreOrigin extends Pick<StoreOptions, 'policy' | 'docs' | 'cursors' | 'embed'> {
  /** Returns a new random source that repeats the draws of the original store from the beginning. */
  random(): Random
  readonly at: number
  readonly stored?: StoreDump
  readonly functions?: readonly PortableString[]
}

/** Second store that runs the same commands as the original. */
export class StoreReplica {
  readonly store: StoreEngine
  /** Virtual time for the commands of the replica. */
  now: number
  /** Latest instant at which a read removed expired keys. The replica cannot show earlier instants. */
  goneBy: number = Number.NEGATIVE_INFINITY
  #done = 0
  readonly #random: HeldRandom

  constructor({ policy, docs, cursors, embed, random, at, stored, functions }: StoreOrigin) {
    this.now = at
    this.#random = new HeldRandom(random())
    this.store = new StoreEngine({
      clock: { now: () => this.now },
      random: this.#random,
      access: new AccessControl({ standard: '', readOnly: '' }, random().fork('acl')),
      // Replicas repeat what has happened, including evictions, so they have no limit.
      policy: { ...policy, maxStorageSize: undefined },
      docs,
      embed,
      ...(cursors && { cursors }),
    })
    if (stored !== undefined) loadInto(this.store.db, stored)
    if (functions !== undefined) this.store.loadFunctions(functions.map(bytesOf))
  }

  get done(): number {
    return this.#done
  }

  run(one: ExecutedCommand): void {
    this.#done++
    this.now = one.at
    if (one.loaded !== undefined) loadInto(this.store.db, one.loaded)
    if (one.argv === undefined) return
    try {
      this.store.execute(one.argv)
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
    }
  }

  /** Reads the store without advancing its random source. */
  look<T>(now: number, read: (store: StoreEngine) => T): T {
    this.now = now
    const unlisten = this.store.listen({
      keyspace: (eventClass) => {
        if (eventClass !== 'm') this.goneBy = now
      },
    })
    try {
      return this.#random.held(() => read(this.store))
    } finally {
      unlisten()
    }
  }
}

/** Random source that reads do not advance: during a read, a copy takes its place. */
class HeldRandom implements Random {
  #source: Random

  constructor(source: Random) {
    this.#source = source
  }

  held<T>(work: () => T): T {
    const source = this.#source
    this.#source = source.copy()
    try {
      return work()
    } finally {
      this.#source = source
    }
  }

  int(below: number): number {
    return this.#source.int(below)
  }

  chance(times: number, outOf: number): boolean {
    return this.#source.chance(times, outOf)
  }

  float(): number {
    return this.#source.float()
  }

  fork(stream: string): Random {
    return this.#source.fork(stream)
  }

  copy(): Random {
    return this.#source.copy()
  }
}
