import { type Bytes, text } from '../../src/kernel/bytes.js'
import { byDatabase } from '../../src/kernel/database-traffic.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'
import type { Chain } from './chain.js'
import type { Log } from './circumstance.js'

// Finds the keys that a delivery certainly changed. A key counts as changed if its state at the end of the delivery
// differs from its state before. The log contains no values, but many values follow from the arguments of commands.
// Some stay unknown, such as the value that a script wrote.

/** A key whose state an attempt changed. */
export interface KeyEffect {
  readonly key: Bytes
  readonly attempt: EntryOf<'attempt'>
  /** The first entry that proves the change. */
  readonly entry: Entry
  /** The keyspace entries about the key, and the commands that caused them. */
  readonly entries: readonly Entry[]
}

/**
 * State of a key: its value, a symbol if the value is unknown, or `undefined` if the key does not exist. Two unknown
 * values may be equal.
 */
type State = string | symbol | undefined

interface Change {
  readonly entry: EntryOf<'keyspace'>
  readonly command: EntryOf<'command'>
  readonly before: State
  readonly after: State
}

/**
 * Returns the keys that attempts changed, sorted by the first change. Locks are excluded, because every attempt must
 * acquire them again.
 */
export function keyEffects({ evidence, chain }: Log): KeyEffect[] {
  const effects = byDatabase(evidence.entries).flatMap((entries) => effectsIn(entries, chain))
  return effects.sort((one, other) => one.entry.seq - other.entry.seq)
}

/** Returns the keys of one database that attempts changed. */
function effectsIn(entries: readonly Entry[], chain: Chain): KeyEffect[] {
  const byAttempt = new Map<EntryOf<'attempt'>, Map<Bytes, Change[]>>()
  const locks = new Set<Bytes>()
  for (const change of changesIn(entries, locks)) {
    const attempt = chain.attemptOf(change.entry)
    if (attempt === undefined) continue
    const byKey = byAttempt.get(attempt) ?? new Map<Bytes, Change[]>()
    byAttempt.set(attempt, byKey)
    const { key } = change.entry
    const changes = byKey.get(key)
    if (changes === undefined) byKey.set(key, [change])
    else changes.push(change)
  }
  return [...byAttempt].flatMap(([attempt, byKey]) =>
    [...byKey]
      .filter(([key, changes]) => !locks.has(key) && !isLockName(text(key)) && hasChanged(changes))
      .map(([key, changes]) => {
        const entries = changes.flatMap(({ entry, command }) => [entry, command])
        return { key, attempt, entry: changes[0]!.entry, entries }
      }),
  )
}

/**
 * Yields the changes of keys.
 * @param locks receives the keys of `SETNX` and `SET … NX` commands, because such a key may be a lock
 */
function* changesIn(entries: readonly Entry[], locks: Set<Bytes>): Generator<Change> {
  const states = new Map<Bytes, State>()
  let events: EntryOf<'keyspace'>[] = []
  for (const entry of entries) {
    // In the log, the changes that a command makes come before the command.
    if (entry.type === 'keyspace') events.push(entry)
    if (entry.type !== 'command') continue
    for (const event of events) {
      const before = states.get(event.key)
      const after = stateAfter(event, entry, before)
      states.set(event.key, after)
      if (after !== before) yield { entry: event, command: entry, before, after }
    }
    events = []
    const name = nameOf(entry)
    if (/^FLUSH/.test(name)) states.clear()
    const [, key] = entry.argv
    if (key !== undefined && (name === 'SETNX' || (name === 'SET' && hasWord(entry, 'NX')))) locks.add(key)
  }
}

/** Keyspace events after which the key does not exist. */
export const removals: RegExp = /^(?:del|expired|evicted|rename_from|move_from)$/
/** Keyspace events that change only the TTL of a key or of a hash field. */
const unrelated = /^(?:expire|persist|hexpire|hpersist)$/

function stateAfter({ event, key }: EntryOf<'keyspace'>, command: EntryOf<'command'>, before: State): State {
  if (removals.test(event)) return undefined
  if (unrelated.test(event)) return before
  const { argv, reply } = command
  const name = nameOf(command)
  if (event === 'set') {
    if (/^(?:SET|SETNX|GETSET)$/.test(name)) return stringState(argv[2])
    if (/^MSET(?:NX)?$/.test(name)) {
      return stringState(argv[argv.findLastIndex((word, index) => index % 2 === 1 && word === key) + 1])
    }
    if (/^P?SETEX$/.test(name)) return stringState(argv[3])
  }
  if (event === 'incrby' && /^(?:INCR|DECR)(?:BY)?$/.test(name)) return stringState(reply)
  if (event === 'incrbyfloat' && name === 'INCRBYFLOAT') return stringState(reply)
  if (event === 'hset' && /^H(?:M?SET|SETNX)$/.test(name)) return hashState(before, argv.slice(2))
  if (event === 'hincrby' && name === 'HINCRBY') return hashState(before, [argv[2]!, String(reply)])
  return Symbol(event)
}

function stringState(value: unknown): State {
  return value === undefined ? Symbol('set') : `string ${value}`
}

const hash = 'hash '

/** Returns the state of a hash after fields were set. The state is unknown if it was unknown before. */
function hashState(before: State, words: readonly string[]): State {
  if (before !== undefined && (typeof before === 'symbol' || !before.startsWith(hash))) return Symbol('hset')
  const fields = new Map<string, string>(before === undefined ? [] : JSON.parse(before.slice(hash.length)))
  for (let index = 0; index + 1 < words.length; index += 2) fields.set(words[index]!, words[index + 1]!)
  return hash + JSON.stringify([...fields].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Keyspace events that add elements. After several such events, a key is never in its first state again. */
const growth = /^(?:[lr]push|sadd|xadd|pfadd)$/

/**
 * Returns whether the state of a key has certainly changed. If another delivery changed the key between these changes,
 * the result is `false`.
 */
function hasChanged(changes: readonly Change[]): boolean {
  const { before } = changes[0]!
  const { after } = changes.at(-1)!
  if (changes.some((change, index) => index > 0 && change.before !== changes[index - 1]!.after)) return false
  if (changes.every(({ entry }) => growth.test(entry.event))) return true
  return typeof before !== 'symbol' && typeof after !== 'symbol' && before !== after
}

function isLockName(key: string): boolean {
  return /(?:^|[^a-z])(?:lock|mutex|lease|semaphore)s?(?:[^a-z]|$)/i.test(key)
}

function nameOf({ argv }: EntryOf<'command'>): string {
  return text(argv[0] ?? ('' as Bytes)).toUpperCase()
}

function hasWord({ argv }: EntryOf<'command'>, word: string): boolean {
  return argv.slice(3).some((one) => text(one).toUpperCase() === word)
}
