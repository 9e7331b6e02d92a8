import { type Bytes, text } from '../../src/kernel/bytes.js'
import type { Entry, EntryOf } from '../../src/kernel/traffic.js'
import type { Log } from './circumstances.js'

// What deliveries have changed in the data store, judged by how each key is when the attempt has ended. The log has no
// values, but most commands carry them; what a script wrote, say, is another unknown value each time.

/** A key that an attempt left in another state than it had before. */
export interface KeyEffect {
  readonly key: Bytes
  readonly attempt: EntryOf<'attempt'>
  /** The first entry that says so. */
  readonly entry: Entry
  readonly seqs: readonly number[]
}

/** A value, one that is not known, or `undefined` for a key that does not exist. */
type State = string | symbol | undefined

interface Change {
  readonly entry: EntryOf<'keyspace'>
  readonly before: State
  readonly after: State
}

/** Effects on keys, in the order in which they began. Locks are none: whoever works has to take them each time. */
export function keyEffects({ evidence, attemptOf }: Pick<Log, 'evidence' | 'attemptOf'>): KeyEffect[] {
  const byAttempt = new Map<EntryOf<'attempt'>, Map<Bytes, Change[]>>()
  const locks = new Set<Bytes>()
  for (const change of changesIn(evidence.entries, locks)) {
    const attempt = attemptOf(change.entry)
    if (attempt === undefined) continue
    const byKey = byAttempt.get(attempt) ?? new Map<Bytes, Change[]>()
    byAttempt.set(attempt, byKey)
    const { key } = change.entry
    byKey.set(key, [...(byKey.get(key) ?? []), change])
  }
  const effects = [...byAttempt].flatMap(([attempt, byKey]) =>
    [...byKey]
      .filter(([key, changes]) => !locks.has(key) && !isLockName(text(key)) && hasChanged(changes))
      .map(([key, changes]) => {
        const seqs = changes.map(({ entry }) => entry.seq)
        return { key, attempt, entry: changes[0]!.entry, seqs }
      }),
  )
  return effects.sort((one, other) => one.entry.seq - other.entry.seq)
}

/** @param locks gets the keys that a command took only where they were free */
function* changesIn(entries: readonly Entry[], locks: Set<Bytes>): Generator<Change> {
  const states = new Map<Bytes, State>()
  let events: EntryOf<'keyspace'>[] = []
  for (const entry of entries) {
    // The changes of a command stand before it.
    if (entry.type === 'keyspace') events.push(entry)
    if (entry.type !== 'command') continue
    for (const event of events) {
      const before = states.get(event.key)
      const after = stateAfter(event, entry, before)
      states.set(event.key, after)
      if (after !== before) yield { entry: event, before, after }
    }
    events = []
    const name = nameOf(entry)
    if (/^FLUSH/.test(name)) states.clear()
    const [, key] = entry.argv
    if (key !== undefined && (name === 'SETNX' || (name === 'SET' && hasWord(entry, 'NX')))) locks.add(key)
  }
}

/** Events after which there is no such key. */
export const removals = /^(?:del|expired|evicted|rename_from|move_from)$/
/** A time to live is no value. */
const unrelated = /^(?:expire|persist|hexpire|hpersist)$/

function stateAfter({ event, key }: EntryOf<'keyspace'>, command: EntryOf<'command'>, before: State): State {
  if (removals.test(event)) return undefined
  if (unrelated.test(event)) return before
  const { argv, reply } = command
  const name = nameOf(command)
  if (event === 'set') {
    if (/^(?:SET|SETNX|GETSET|MSET|MSETNX)$/.test(name)) return stringState(argv[argv.indexOf(key, 1) + 1])
    if (/^P?SETEX$/.test(name)) return stringState(argv[3])
  }
  if (event === 'incrby' && /^(?:INCR|DECR)(?:BY)?$/.test(name)) return stringState(reply)
  if (event === 'json.set' && name === 'JSON.SET' && /^[$.]$/.test(text(argv[2]!))) return `json ${argv[3]}`
  if (event === 'hset' && /^H(?:M?SET|SETNX)$/.test(name)) return hashState(before, argv.slice(2))
  return Symbol(event)
}

function stringState(value: unknown): State {
  return value === undefined ? Symbol('set') : `string ${value}`
}

const hash = 'hash '

/** A hash whose fields are known, with others. */
function hashState(before: State, words: readonly Bytes[]): State {
  if (before !== undefined && (typeof before === 'symbol' || !before.startsWith(hash))) return Symbol('hset')
  const fields = new Map<string, string>(before === undefined ? [] : JSON.parse(before.slice(hash.length)))
  for (let index = 0; index + 1 < words.length; index += 2) fields.set(words[index]!, words[index + 1]!)
  return hash + JSON.stringify([...fields].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Events that another one of the same attempt may have taken back, where values are not known. */
const opposites: readonly (readonly [RegExp, RegExp])[] = [
  [/^incrby/, /^incrby/],
  [/^sadd$/, /^s(?:rem|pop)$/],
  [/^z(?:add|incr)$/, /^z(?:rem|pop)/],
  [/^h(?:set|incrby)/, /^h(?:del|incrby)/],
  [/^[lr]push$/, /^(?:[lr]pop|lrem)$/],
]

/** Whether the key is another one for certain than before. */
function hasChanged(changes: readonly Change[]): boolean {
  const { before } = changes[0]!
  const { after } = changes.at(-1)!
  if (before === after) return false
  const events = changes.map(({ entry }) => entry.event)
  if (events.every((event) => event === 'incrby')) {
    // Others may have counted in between.
    const sum = changes.reduce((so, change) => so + numberOf(change.after) - numberOf(change.before), 0)
    if (!Number.isNaN(sum)) return sum !== 0
  }
  if (typeof after !== 'symbol') return true
  return !opposites.some(([does, undoes]) => {
    const done = events.findIndex((event) => does.test(event))
    return done !== -1 && events.slice(done + 1).some((event) => undoes.test(event))
  })
}

function numberOf(state: State): number {
  if (state === undefined) return 0
  return typeof state === 'string' && /^string -?\d{1,15}$/.test(state)
    ? Number(state.slice('string '.length))
    : Number.NaN
}

function isLockName(key: string): boolean {
  return /(?:^|[^a-z])(?:lock|mutex|lease|semaphore)s?(?:[^a-z]|$)/i.test(key)
}

function nameOf({ argv }: EntryOf<'command'>): string {
  return text(argv[0]!).toUpperCase()
}

function hasWord({ argv }: EntryOf<'command'>, word: string): boolean {
  return argv.slice(3).some((one) => text(one).toUpperCase() === word)
}
