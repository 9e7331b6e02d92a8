import { bytesOf, type PortableString } from '../../kernel/portable.js'
import type { Random } from '../../kernel/random.js'
import { AccessControl } from '../access/access-control.js'
import { ReplyError } from '../command/reply.js'
import { loadInto } from '../dump/snapshot.js'
import type { StoreDump } from '../dump/store-dump.js'
import type { ExecutedCommand } from '../executed-command.js'
import { StoreEngine } from '../store-engine.js'
import type { StoreOptions } from '../store-options.js'

/** What a store began with. */
export interface StoreOrigin extends Pick<StoreOptions, 'policy' | 'docs' | 'cursors'> {
  /** A source of chance as new, of the store that is told about. */
  random(): Random
  readonly at: number
  readonly stored?: StoreDump
  readonly functions?: readonly PortableString[]
}

/** A second store, which runs what the first one ran. */
export class StoreReplica {
  readonly store: StoreEngine
  /** The time that its commands see. */
  now: number
  /** When a look took away what had expired: what was before cannot be seen here any more. */
  goneBy: number = Number.NEGATIVE_INFINITY
  /** How much of what ran has been run again. */
  #done = 0
  readonly #random: HeldRandom

  constructor({ policy, docs, cursors, random, at, stored, functions }: StoreOrigin) {
    this.now = at
    this.#random = new HeldRandom(random())
    this.store = new StoreEngine({
      clock: { now: () => this.now },
      random: this.#random,
      access: new AccessControl({ standard: '', readOnly: '' }, random().fork('acl')),
      policy,
      docs,
      ...(cursors && { cursors }),
    })
    if (stored !== undefined) loadInto(this.store.db, stored)
    if (functions !== undefined) this.store.scripts.libraries.restore(functions.map(bytesOf), 'flush')
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

  /** Looks, and leaves chance where it is. */
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

/** A source of chance that can be looked ahead with. */
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
