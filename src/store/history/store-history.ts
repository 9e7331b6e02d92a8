import type { Bytes } from '../../kernel/bytes.js'
import { portableString } from '../../kernel/portable.js'
import { portableValue } from '../dump/portable-values.js'
import type { DumpedKey } from '../dump/store-dump.js'
import type { ExecutedCommand } from '../executed-command.js'
import type { StoreEngine } from '../store-engine.js'
import { type KeyChange, partOf } from './key-change.js'
import { ListDiffer } from './list-differ.js'
import { type StoreOrigin, StoreReplica } from './store-replica.js'

/** Number of replicas that are kept. With several replicas, reads can alternate between a few instants. */
const maxReplicas = 4

/** Past states of a store. The states are computed only on request, by running the commands of the store again. */
export class StoreHistory {
  readonly #beginning: StoreOrigin
  readonly #ran: () => readonly ExecutedCommand[]
  #replicas: StoreReplica[] = []
  #changeReader: ChangeReader | undefined

  /**
   * @param beginning the initial state of the store
   * @param ran returns all commands that have run so far, in order
   */
  constructor(beginning: StoreOrigin, ran: () => readonly ExecutedCommand[]) {
    this.#beginning = beginning
    this.#ran = ran
  }

  /**
   * Reads the store as it was after `count` commands.
   * @param now the instant of the read, at or after the last of these commands
   */
  look<T>(count: number, now: number, read: (store: StoreEngine) => T): T {
    const ran = this.#ran()
    const replica = this.#replicaFor(count, now)
    while (replica.done < count) replica.run(ran[replica.done]!)
    return replica.look(now, read)
  }

  /**
   * Returns the number of commands that ran up to an entry or an instant. `isLater` returns whether a command ran after
   * the entry or instant.
   */
  countAt(isLater: (ran: ExecutedCommand) => boolean): number {
    const ran = this.#ran()
    let [low, high] = [0, ran.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isLater(ran[middle]!)) high = middle
      else low = middle + 1
    }
    return low
  }

  changes(after: number): readonly KeyChange[] {
    this.#changeReader ??= new ChangeReader(this.#beginning)
    const changes = this.#changeReader.upTo(this.#ran())
    if (after <= 0) return changes
    let [low, high] = [0, changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (changes[middle]!.seq > after) high = middle
      else low = middle + 1
    }
    return changes.slice(low)
  }

  /**
   * Returns the replica that needs the fewest further commands to reach `count`, or a new one. A replica cannot be used
   * if it has run more commands, or has removed keys that expired after `now`.
   */
  #replicaFor(count: number, now: number): StoreReplica {
    const known = this.#replicas
      .filter((replica) => replica.done < count || (replica.done === count && replica.goneBy <= now))
      .sort((a, b) => b.done - a.done)[0]
    const replica = known ?? new StoreReplica(this.#beginning)
    this.#replicas = [replica, ...this.#replicas.filter((one) => one !== replica)].slice(0, maxReplicas)
    return replica
  }
}

/** Commands that can delete any key. */
const emptying = /^(?:flushall|flushdb|swapdb)$/i

/** Runs all commands once and records the changes of each one. */
class ChangeReader {
  readonly #replica: StoreReplica
  readonly #changes: KeyChange[] = []
  readonly #splicing = new ListDiffer()
  readonly #known = new Map<Bytes, DumpedKey>()
  readonly #touched = new Set<Bytes>()

  constructor(beginning: StoreOrigin) {
    this.#replica = new StoreReplica(beginning)
    this.#replica.store.listen({ keyspace: (_class, _event, key) => void this.#touched.add(key) })
    this.#tellAll(0, beginning.at)
  }

  upTo(ran: readonly ExecutedCommand[]): readonly KeyChange[] {
    while (this.#replica.done < ran.length) this.#step(ran[this.#replica.done]!)
    return this.#changes
  }

  #step(ran: ExecutedCommand): void {
    const { seq, at, argv, loaded } = ran
    const { store } = this.#replica
    this.#touched.clear()
    this.#replica.run(ran)
    if (loaded !== undefined || emptying.test(argv?.[0] ?? '')) {
      this.#tellAll(seq, at)
      return
    }
    // Some changes have no event, for example that a consumer acknowledged an entry.
    for (const key of writtenKeys(store, argv)) this.#touched.add(key)
    for (const key of this.#touched) this.#tell(seq, at, key)
  }

  #tellAll(seq: number, at: number): void {
    const keys = new Set<Bytes>(this.#known.keys())
    this.#replica.store.db.forEach((_value, key) => void keys.add(key))
    for (const key of keys) this.#tell(seq, at, key)
  }

  #tell(seq: number, at: number, name: Bytes): void {
    const before = this.#known.get(name)
    const now = dumpedKey(this.#replica.store, name)
    const key = portableString(name)
    if (now !== undefined) {
      if (before !== undefined && isSame(before, now)) return
      this.#known.set(name, now)
      this.#changes.push({ seq, at, key, ...this.#splicing.told(name, before, now) })
      return
    }
    this.#known.delete(name)
    // If a key was deleted because it expired, the `expiresAt` of the key already shows this.
    if (before === undefined || (before.expiresAt ?? Number.POSITIVE_INFINITY) <= at) return
    this.#changes.push({ seq, at, key })
  }
}

function writtenKeys(store: StoreEngine, argv: readonly Bytes[] | undefined): readonly Bytes[] {
  if (argv === undefined) return []
  try {
    const command = store.lookup(argv)
    // PFCOUNT caches the count in the string that it counted.
    return command.writes || command.name === 'PFCOUNT' ? command.keysOf(argv) : []
  } catch {
    return []
  }
}

function dumpedKey({ db }: StoreEngine, name: Bytes): DumpedKey | undefined {
  const entry = db.find(name)
  if (entry === undefined) return undefined
  const { value, expiresAt } = entry
  return { key: portableString(name), ...(expiresAt !== undefined && { expiresAt }), ...portableValue(value) }
}

/** Returns whether a key has not changed. Long collections are not compared; they count as changed. */
function isSame(before: DumpedKey, now: DumpedKey): boolean {
  const isLong = (['elements', 'members', 'fields', 'entries', 'slots', 'vectors'] as const).some(
    (part) => partOf(now, part).length > 64,
  )
  return !isLong && JSON.stringify(before) === JSON.stringify(now)
}
