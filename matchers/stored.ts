import { type Bytes, latin1, text } from '../src/kernel/bytes.js'
import { formatFloat32 } from '../src/kernel/float32.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import type { Redaction } from '../src/report/redaction.js'
import { excerpt } from '../src/report/safe-text.js'
import type { PlainReply } from '../src/store/direct-store.js'
import type { VectorIndex } from '../src/store/values/vector-index.js'
import { compare, ValueDifference } from './compare-values.js'
import { compareText } from './comparison-kinds.js'
import { withoutSecrets } from './failure/hidden-values.js'
import { isAsymmetric, literal } from './literal.js'
import { storeInternals } from './received.js'

/** Value of a key in the store, in a form that can be compared. */
export interface StoredValue {
  readonly type: string
  /** Remaining TTL in milliseconds. `undefined` if the key does not expire. */
  readonly ttl: number | undefined
  readonly compare: (expected: unknown) => readonly ValueDifference[]
  /** Returns the value as a short text, safe to print. */
  readonly shown: (redaction: Redaction) => string
}

export interface KeyReader {
  read(key: Bytes): StoredValue | undefined
  keys(): readonly Bytes[]
  /** Returns when a key expired that the store has not removed yet. */
  expiredAt(key: Bytes): number | undefined
}

/** Returns a reader for the keys of a store. Its reads add no entry to the log. */
export function keyReaderOf(matcher: string, received: unknown): KeyReader {
  const internals =
    storeInternals.find(received) ?? storeInternals.find((received as { store?: unknown } | null | undefined)?.store)
  if (internals === undefined && typeof (received as { now?: unknown } | null | undefined)?.now === 'number') {
    throw new TypeError(
      `${matcher}(): this is a view of the past, and the matcher reads current keys. Write expect(await sandbox.fork({ at })).${matcher}(…), or read past.store.`,
    )
  }
  if (internals === undefined) {
    throw new TypeError(
      `${matcher}(): expect() must get the store or the sandbox, because a log has no values. Write expect(sandbox.store).${matcher}(…).`,
    )
  }
  const { engine, peek: run } = internals
  const isLive = (key: Bytes): boolean => engine.db.isLive(key)
  return {
    keys: () => {
      const keys: Bytes[] = []
      engine.db.forEachStored((_, key) => void (isLive(key) && keys.push(key)))
      return keys
    },
    expiredAt: (wanted) => {
      let found: number | undefined
      engine.db.forEachStored((_, key, expiresAt) => {
        if (key === wanted && !isLive(key)) found = expiresAt
      })
      return found
    },
    read: (key) => {
      // A read of an expired key deletes the key and logs an event. An assertion must not change the log, so do not
      // read such a key.
      if (!isLive(key)) return undefined
      const type = String(run(latin1('TYPE'), key))
      if (type === 'none') return undefined
      const left = Number(run(latin1('PTTL'), key))
      // No command lists the IDs of a vector index.
      const part = type === 'vector' ? vectorsHeld(engine.db.value(key) as VectorIndex) : held(type, key, run)
      return { type, ttl: left < 0 ? undefined : left, ...part }
    },
  }
}

type Run = (...words: Bytes[]) => PlainReply
type StoredPart = Pick<StoredValue, 'compare' | 'shown'>

/** Highest index of an array. */
const highestIndex = latin1('18446744073709551614')

/** Functions that read the value of a key, by type of the key. */
const readings: Readonly<Record<string, (key: Bytes, run: Run) => StoredPart>> = {
  string: (key, run) => stringHeld(String(run(latin1('GET'), key))),
  hash: (key, run) => fieldsHeld(pairsOf(run(latin1('HGETALL'), key))),
  list: (key, run) => listHeld(textsOf(run(latin1('LRANGE'), key, latin1('0'), latin1('-1')))),
  set: (key, run) => setHeld(textsOf(run(latin1('SMEMBERS'), key))),
  zset: (key, run) => scoresHeld(pairsOf(run(latin1('ZRANGE'), key, latin1('0'), latin1('-1'), latin1('WITHSCORES')))),
  array: (key, run) => slotsHeld(run(latin1('ARSCAN'), key, latin1('0'), highestIndex)),
  stream: (key, run) => valueHeld(streamEntries(run(latin1('XRANGE'), key, latin1('-'), latin1('+')))),
  search: () => indexHeld,
}

/** A search index has a definition, but no value: its documents are other keys. */
const indexHeld: StoredPart = {
  shown: () => 'a search index',
  compare: (expected) => [new ValueDifference(undefined, expected, '', { received: 'a search index' })],
}

function held(type: string, key: Bytes, run: Run): StoredPart {
  try {
    const read = readings[type] ?? jsonHeld
    return read(key, run)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw error
    return { shown: () => '(cannot be read)', compare: (expected) => [new ValueDifference(error.message, expected)] }
  }
}

function jsonHeld(key: Bytes, run: Run): StoredPart {
  return valueHeld(parsedJson(String(run(latin1('JSON.GET'), key))))
}

function stringHeld(received: string): StoredPart {
  return { shown: show(received), compare: (expected) => compareStored(received, expected) }
}

/**
 * Compares a stored text. An expected number is compared as text, and an expected object, list or boolean with the
 * parsed JSON.
 */
function compareStored(received: string, expected: unknown): readonly ValueDifference[] {
  if (typeof expected === 'number' || typeof expected === 'bigint') return compare(received, String(expected))
  return typeof expected === 'string' ? compare(received, expected) : compareText(received, expected)
}

function fieldsHeld(received: ReadonlyMap<string, string>): StoredPart {
  const shown = Object.fromEntries(received)
  return {
    shown: show(shown),
    compare: (expected) => {
      const wanted = entriesOf(expected)
      if (wanted === undefined) return compare(shown, expected)
      return wanted.flatMap(([name, value]) => {
        const path = `.${name}`
        const field = received.get(name)
        if (field === undefined) return value === undefined ? [] : [new ValueDifference(undefined, value, path)]
        return compareStored(field, value).map((one) => one.at(path + one.path))
      })
    },
  }
}

function scoresHeld(received: ReadonlyMap<string, string>): StoredPart {
  const scores = new Map([...received].map(([member, score]) => [member, Number(score)]))
  const shown = Object.fromEntries(scores)
  return {
    shown: show(shown),
    compare: (expected) => {
      if (Array.isArray(expected)) return compare([...scores.keys()], expected)
      const wanted = entriesOf(expected)
      if (wanted === undefined) return compare(shown, expected)
      return wanted.flatMap(([member, score]) => compare(scores.get(member), score, `.${member}`))
    },
  }
}

function vectorsHeld(index: VectorIndex): StoredPart {
  const shown = Object.fromEntries([...index.ids].map((id) => [text(id), elementsOf(index.get(id)!)]))
  return {
    shown: show(shown),
    compare: (expected) => {
      const wanted = entriesOf(expected)
      if (wanted === undefined) return compare(shown, expected)
      return wanted.flatMap(([id, vector]) => compare(shown[id], asFloats(vector), `.${id}`))
    },
  }
}

/** Returns numbers that print like the elements in replies: 0.1, and not 0.10000000149011612. */
function elementsOf(floats: Iterable<number>): number[] {
  return Array.from(floats, (element) => Number(formatFloat32(Math.fround(element))))
}

/** Rounds expected numbers to 32-bit floats, as the store does. Other values are compared as they are. */
function asFloats(expected: unknown): unknown {
  if (expected instanceof Float32Array) return elementsOf(expected)
  if (!Array.isArray(expected)) return expected
  return expected.map((element) => (typeof element === 'number' ? elementsOf([element])[0] : element))
}

function listHeld(received: readonly string[]): StoredPart {
  return {
    shown: show(received),
    compare: (expected) => {
      if (!Array.isArray(expected) || expected.length !== received.length) return compare([...received], expected)
      return expected.flatMap((item, index) =>
        compareStored(received[index]!, item).map((one) => one.at(`[${index}]${one.path}`)),
      )
    },
  }
}

/** Compares an array with a list from index 0, in which `null` is an empty slot, or with an object of values by index. */
function slotsHeld(reply: PlainReply): StoredPart {
  const slots = Array.isArray(reply) ? reply.map(textsOf) : []
  const received = new Map(slots.map(([index, value]) => [index!, value!]))
  const isDense = slots.every(([index], at) => index === String(at))
  const shown = isDense ? [...received.values()] : Object.fromEntries(received)
  return {
    shown: show(shown),
    compare: (expected) => {
      const wanted = entriesOf(Array.isArray(expected) ? new Map(expected.entries()) : expected)
      if (wanted === undefined) return compare(shown, expected)
      const missed = wanted.flatMap(([index, value]) => {
        const path = `[${index}]`
        const slot = received.get(index)
        if (slot === undefined)
          return value === undefined || value === null ? [] : [new ValueDifference(null, value, path)]
        return compareStored(slot, value).map((one) => one.at(path + one.path))
      })
      if (!Array.isArray(expected)) return missed
      const beyond = slots.filter(([index]) => BigInt(index!) >= expected.length)
      return [...missed, ...beyond.map(([index, value]) => new ValueDifference(value, null, `[${index}]`))]
    },
  }
}

/** Compares sets in any order. Two expected members must match two different members of the set. */
function setHeld(received: readonly string[]): StoredPart {
  return {
    shown: show(received),
    compare: (expected) => {
      const wanted = expected instanceof Set ? [...expected] : expected
      if (!Array.isArray(wanted)) return compare([...received], expected)
      const left = [...received]
      for (const member of wanted) {
        const found = left.findIndex((one) => compareStored(one, member).length === 0)
        if (found === -1) return [new ValueDifference(received, expected)]
        left.splice(found, 1)
      }
      return left.length === 0 ? [] : [new ValueDifference(received, expected)]
    },
  }
}

function valueHeld(received: unknown): StoredPart {
  return { shown: show(received), compare: (expected) => compare(received, expected) }
}

function entriesOf(expected: unknown): [string, unknown][] | undefined {
  if (expected instanceof Map) return [...expected].map(([name, value]) => [String(name), value])
  if (typeof expected !== 'object' || expected === null || isAsymmetric(expected) || Array.isArray(expected))
    return undefined
  return Object.entries(expected)
}

function textsOf(reply: PlainReply): string[] {
  return Array.isArray(reply) ? reply.map(String) : []
}

function pairsOf(reply: PlainReply): Map<string, string> {
  const words = textsOf(reply)
  const pairs = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2) pairs.set(words[index]!, words[index + 1]!)
  return pairs
}

function streamEntries(reply: PlainReply): { id: string; fields: Record<string, string> }[] {
  if (!Array.isArray(reply)) return []
  return reply.map((entry) => {
    const [id, fields] = entry as [string, PlainReply]
    return { id, fields: Object.fromEntries(pairsOf(fields)) }
  })
}

function show(value: unknown): StoredValue['shown'] {
  return (redaction) => {
    const safe = withoutSecrets(value, redaction)
    return typeof safe === 'string' ? `'${excerpt(safe, 200)}'` : literal(safe)
  }
}
