/**
 * The simplest model of single keys: what a client with its own copy would expect of the common commands. It reports
 * where it cannot predict a reply, and shares no code with the store.
 */
export type Value =
  | { readonly type: 'string'; readonly text: string }
  | { readonly type: 'hash'; readonly fields: Map<string, string> }
  | { readonly type: 'list'; readonly items: string[] }
  | { readonly type: 'set'; readonly members: Set<string> }

interface Held {
  value: Value
  /** Instant in milliseconds, infinity without an expiration. */
  expires: number
}

/** Prediction of the model: a reply, or the code of an error. */
export type Expected =
  | { readonly reply: unknown; readonly unordered?: 'items' | 'pairs' }
  | { readonly error: 'WRONGTYPE' | 'ERR' }

type Words = readonly string[]

/** Thrown by a command whose reply cannot be predicted. */
const beyond: unique symbol = Symbol('beyond the model')

/** Thrown where the real command returns an error. */
class Refused extends Error {
  constructor(readonly word: 'WRONGTYPE' | 'ERR') {
    super(word)
  }
}

const ok = { status: 'OK' }
const wholeNumber = /^(0|-?[1-9]\d{0,17})$/
/** Longest list of the model, which would be slow with longer ones. */
const maxList = 4096

export class KeyModel {
  now = 0
  #held = new Map<string, Held | 'unknown' | 'absent'>()
  /** State of a key that no command has named. */
  #others: 'unknown' | 'absent'

  /** @param isBlank whether nothing is stored yet; otherwise each key is unknown until it is written */
  constructor(isBlank: boolean) {
    this.#others = isBlank ? 'absent' : 'unknown'
  }

  /** @returns `undefined` where the model cannot predict the reply */
  run(name: string, words: Words): Expected | undefined {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    try {
      if (command === undefined) throw beyond
      return command(this, words)
    } catch (thrown) {
      if (thrown instanceof Refused) return { error: thrown.word }
      if (thrown !== beyond) throw thrown
      this.forget(words)
      return undefined
    }
  }

  /** Marks all keys as unknown. */
  forgetAll(): void {
    this.#held.clear()
    this.#others = 'unknown'
  }

  /** Marks the keys with these names as unknown. */
  forget(words: Words): void {
    for (const word of words) this.#held.set(word, 'unknown')
  }

  empty(): void {
    this.#held.clear()
    this.#others = 'absent'
  }

  isKnown(key: string): boolean {
    return (this.#held.get(key) ?? this.#others) !== 'unknown'
  }

  /** Returns the key, or throws when its state is unknown. */
  find(key: string): Held | undefined {
    const held = this.#held.get(key) ?? this.#others
    if (held === 'unknown') throw beyond
    if (held === 'absent') return undefined
    if (held.expires > this.now) return held
    this.#held.set(key, 'absent')
    return undefined
  }

  put(key: string, value: Value, expires: number = Number.POSITIVE_INFINITY): void {
    this.#held.set(key, { value, expires })
  }

  drop(key: string): void {
    this.#held.set(key, 'absent')
  }

  /** Returns the value of a key that must have this type, or a blank value, which is stored when `create` is set. */
  typed<T extends Value>(key: string, blank: T, create = false): T {
    const held = this.find(key)
    if (held === undefined) {
      if (create) this.put(key, blank)
      return blank
    }
    if (held.value.type !== blank.type) throw new Refused('WRONGTYPE')
    return held.value as T
  }

  text(key: string): string | undefined {
    const held = this.find(key)
    if (held === undefined) return undefined
    if (held.value.type !== 'string') throw new Refused('WRONGTYPE')
    return held.value.text
  }

  hash(key: string, create = false): Map<string, string> {
    return this.typed(key, { type: 'hash', fields: new Map<string, string>() }, create).fields
  }

  list(key: string, create = false): string[] {
    const { items } = this.typed(key, { type: 'list', items: [] as string[] }, create)
    if (items.length > maxList) throw beyond
    return items
  }

  set(key: string, create = false): Set<string> {
    return this.typed(key, { type: 'set', members: new Set<string>() }, create).members
  }
}

type Run = (model: KeyModel, words: Words) => Expected | undefined

/** Runs only with this number of arguments; other forms are beyond the model. */
function exactly(count: number, run: Run): Run {
  return (model, words) => {
    if (words.length !== count) throw beyond
    return run(model, words)
  }
}

const reply = (value: unknown): Expected => ({ reply: value })
const count = (yes: boolean): number => (yes ? 1 : 0)

function whole(word: string): bigint {
  if (!wholeNumber.test(word)) throw beyond
  return BigInt(word)
}

function add(model: KeyModel, key: string, by: bigint): Expected {
  const held = model.find(key)
  const text = model.text(key) ?? '0'
  if (!wholeNumber.test(text)) {
    // The model does not decide whether twenty digits, spaces or signs are a number.
    if (/^\s*[-+]?\d+\s*$/.test(text)) throw beyond
    throw new Refused('ERR')
  }
  const sum = BigInt(text) + by
  if (!wholeNumber.test(String(sum))) throw beyond
  model.put(key, { type: 'string', text: String(sum) }, held?.expires)
  return reply(sum)
}

/** Returns the instant of `EX 60`, `PX 100`, `EXAT …` or `PXAT …` in milliseconds since the epoch. */
function deadline(unit: string, amount: string, now: number): number {
  const value = Number(whole(amount))
  if (value <= 0 || value > 1e14) throw beyond
  if (unit === 'EX') return now + value * 1000
  if (unit === 'PX') return now + value
  return unit === 'EXAT' ? value * 1000 : value
}

function set(model: KeyModel, [key, text, ...options]: Words): Expected {
  if (key === undefined || text === undefined) throw beyond
  const held = model.find(key)
  let expires = Number.POSITIVE_INFINITY
  let wanted: boolean | undefined
  let gets = false
  for (let at = 0; at < options.length; at++) {
    const option = options[at]!.toUpperCase()
    if (option === 'NX' || option === 'XX') wanted = option === 'XX'
    else if (option === 'GET') gets = true
    else if (option === 'KEEPTTL') expires = held?.expires ?? expires
    else if (/^(EX|PX|EXAT|PXAT)$/.test(option)) expires = deadline(option, options[++at] ?? '', model.now)
    else throw beyond
  }
  const before = gets ? (model.text(key) ?? null) : undefined
  const sets = wanted === undefined || wanted === (held !== undefined)
  if (sets) {
    if (expires > model.now) model.put(key, { type: 'string', text }, expires)
    else model.drop(key)
  }
  return reply(before !== undefined ? before : sets ? ok : null)
}

function expire(toMilliseconds: (amount: number, now: number) => number): Run {
  return exactly(2, (model, [key, amount]) => {
    const at = toMilliseconds(Number(whole(amount!)), model.now)
    if (Math.abs(at) > 1e15) throw beyond
    const held = model.find(key!)
    if (held === undefined) return reply(0)
    if (at <= model.now) model.drop(key!)
    else held.expires = at
    return reply(1)
  })
}

function timeLeft(unit: number): Run {
  return exactly(1, (model, [key]) => {
    const held = model.find(key!)
    if (held === undefined) return reply(-2)
    return reply(held.expires === Number.POSITIVE_INFINITY ? -1 : Math.round((held.expires - model.now) / unit))
  })
}

function push(end: 'left' | 'right'): Run {
  return (model, [key, ...items]) => {
    if (key === undefined || items.length === 0) throw beyond
    const list = model.list(key, true)
    for (const item of items) end === 'left' ? list.unshift(item) : list.push(item)
    return reply(list.length)
  }
}

function pop(end: 'left' | 'right'): Run {
  return exactly(1, (model, [key]) => {
    const list = model.list(key!)
    const item = end === 'left' ? list.shift() : list.pop()
    if (item !== undefined && list.length === 0) model.drop(key!)
    return reply(item ?? null)
  })
}

/** Slices as Python does, but with an inclusive end. */
function slice(items: readonly string[], from: string, to: string): readonly string[] {
  const place = (word: string): number => {
    const at = Number(whole(word))
    return at < 0 ? items.length + at : at
  }
  const start = Math.max(place(from), 0)
  return items.slice(start, Math.max(place(to) + 1, start))
}

function remove<T extends { readonly size: number; delete(name: string): boolean }>(
  find: (model: KeyModel, key: string) => T,
): Run {
  return (model, [key, ...names]) => {
    if (key === undefined || names.length === 0) throw beyond
    const from = find(model, key)
    const before = from.size
    let removed = 0
    for (const name of names) removed += count(from.delete(name))
    if (before > 0 && from.size === 0) model.drop(key)
    return reply(removed)
  }
}

function drop(model: KeyModel, keys: Words): Expected | undefined {
  if (keys.length === 0) throw beyond
  const areKnown = keys.every((key) => model.isKnown(key))
  let dropped = 0
  for (const key of keys) {
    if (areKnown && model.find(key) !== undefined) dropped++
    model.drop(key)
  }
  return areKnown ? reply(dropped) : undefined
}

function flush(model: KeyModel): Expected {
  model.empty()
  return reply(ok)
}

/** Sets fields and values as HSET does. */
function hset(model: KeyModel, [key, ...pairs]: Words): Expected {
  if (key === undefined || pairs.length === 0 || pairs.length % 2 === 1) throw beyond
  const hash = model.hash(key, true)
  const before = hash.size
  for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at]!, pairs[at + 1]!)
  return reply(hash.size - before)
}

const commands: Readonly<Record<string, Run>> = {
  GET: exactly(1, (model, [key]) => reply(model.text(key!) ?? null)),
  SET: set,
  SETNX: exactly(2, (model, [key, text]) => {
    const isNew = model.find(key!) === undefined
    if (isNew) model.put(key!, { type: 'string', text: text! })
    return reply(count(isNew))
  }),
  SETEX: exactly(3, (model, [key, seconds, text]) => set(model, [key!, text!, 'EX', seconds!])),
  PSETEX: exactly(3, (model, [key, milliseconds, text]) => set(model, [key!, text!, 'PX', milliseconds!])),
  GETSET: exactly(2, (model, [key, text]) => set(model, [key!, text!, 'GET'])),
  GETDEL: exactly(1, (model, [key]) => {
    const text = model.text(key!)
    if (text !== undefined) model.drop(key!)
    return reply(text ?? null)
  }),
  APPEND: exactly(2, (model, [key, more]) => {
    const held = model.find(key!)
    const text = (model.text(key!) ?? '') + more!
    model.put(key!, { type: 'string', text }, held?.expires)
    return reply(text.length)
  }),
  STRLEN: exactly(1, (model, [key]) => reply((model.text(key!) ?? '').length)),
  INCR: exactly(1, (model, [key]) => add(model, key!, 1n)),
  DECR: exactly(1, (model, [key]) => add(model, key!, -1n)),
  INCRBY: exactly(2, (model, [key, by]) => add(model, key!, whole(by!))),
  DECRBY: exactly(2, (model, [key, by]) => add(model, key!, -whole(by!))),
  MGET: (model, keys) => {
    if (keys.length === 0) throw beyond
    return reply(
      keys.map((key) => {
        const value = model.find(key)?.value
        return value?.type === 'string' ? value.text : null
      }),
    )
  },
  MSET: (model, words) => {
    if (words.length === 0 || words.length % 2 === 1) throw beyond
    for (let at = 0; at < words.length; at += 2) model.put(words[at]!, { type: 'string', text: words[at + 1]! })
    return reply(ok)
  },
  DEL: drop,
  UNLINK: drop,
  FLUSHALL: flush,
  FLUSHDB: flush,
  EXISTS: (model, keys) => {
    if (keys.length === 0) throw beyond
    return reply(keys.filter((key) => model.find(key) !== undefined).length)
  },
  TYPE: exactly(1, (model, [key]) => reply({ status: model.find(key!)?.value.type ?? 'none' })),
  EXPIRE: expire((amount, now) => now + amount * 1000),
  PEXPIRE: expire((amount, now) => now + amount),
  EXPIREAT: expire((amount) => amount * 1000),
  PEXPIREAT: expire((amount) => amount),
  PERSIST: exactly(1, (model, [key]) => {
    const held = model.find(key!)
    if (held === undefined || held.expires === Number.POSITIVE_INFINITY) return reply(0)
    held.expires = Number.POSITIVE_INFINITY
    return reply(1)
  }),
  TTL: timeLeft(1000),
  PTTL: timeLeft(1),
  HSET: hset,
  HSETNX: exactly(3, (model, [key, field, value]) => {
    const hash = model.hash(key!)
    if (hash.has(field!)) return reply(0)
    return hset(model, [key!, field!, value!])
  }),
  HGET: exactly(2, (model, [key, field]) => reply(model.hash(key!).get(field!) ?? null)),
  HMGET: (model, [key, ...fields]) => {
    if (key === undefined || fields.length === 0) throw beyond
    const hash = model.hash(key)
    return reply(fields.map((field) => hash.get(field) ?? null))
  },
  HGETALL: exactly(1, (model, [key]) => ({ reply: [...model.hash(key!)].flat(), unordered: 'pairs' })),
  HKEYS: exactly(1, (model, [key]) => ({ reply: [...model.hash(key!).keys()], unordered: 'items' })),
  HLEN: exactly(1, (model, [key]) => reply(model.hash(key!).size)),
  HEXISTS: exactly(2, (model, [key, field]) => reply(count(model.hash(key!).has(field!)))),
  HDEL: remove((model, key) => model.hash(key)),
  HINCRBY: exactly(3, (model, [key, field, by]) => {
    const text = model.hash(key!).get(field!) ?? '0'
    if (!wholeNumber.test(text)) throw beyond
    const sum = BigInt(text) + whole(by!)
    if (!wholeNumber.test(String(sum))) throw beyond
    model.hash(key!, true).set(field!, String(sum))
    return reply(sum)
  }),
  LPUSH: push('left'),
  RPUSH: push('right'),
  LPOP: pop('left'),
  RPOP: pop('right'),
  LLEN: exactly(1, (model, [key]) => reply(model.list(key!).length)),
  LRANGE: exactly(3, (model, [key, from, to]) => reply(slice(model.list(key!), from!, to!))),
  LINDEX: exactly(2, (model, [key, at]) => reply(model.list(key!).at(Number(whole(at!))) ?? null)),
  SADD: (model, [key, ...members]) => {
    if (key === undefined || members.length === 0) throw beyond
    const set = model.set(key, true)
    const before = set.size
    for (const member of members) set.add(member)
    return reply(set.size - before)
  },
  SREM: remove((model, key) => model.set(key)),
  SCARD: exactly(1, (model, [key]) => reply(model.set(key!).size)),
  SISMEMBER: exactly(2, (model, [key, member]) => reply(count(model.set(key!).has(member!)))),
  SMEMBERS: exactly(1, (model, [key]) => ({ reply: [...model.set(key!)], unordered: 'items' })),
}
