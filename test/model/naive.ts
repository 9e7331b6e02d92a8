/**
 * The simplest store: arrays and sorting, without tables and indexes. It shares only the rules with the real store, and
 * is obviously right rather than fast. Errors are reduced to their code.
 */

export type NaiveReply = null | number | bigint | string | { readonly status: string } | readonly NaiveReply[]

export class NaiveError extends Error {}

const wrongType = (): never => {
  throw new NaiveError('WRONGTYPE')
}
const wrong = (): never => {
  throw new NaiveError('ERR')
}

type Value =
  | { type: 'string'; text: string }
  | { type: 'hash'; pairs: [string, string][] }
  | { type: 'list'; items: string[] }
  | { type: 'set'; members: string[] }
  | { type: 'zset'; scores: [string, number][] }

interface Key {
  value: Value
  expires: number
}

const ok = { status: 'OK' }

export class NaiveStore {
  now = 0
  keys: [string, Key][] = []

  execute(argv: readonly string[]): NaiveReply {
    this.keys = this.keys.filter(([, key]) => key.expires > this.now)
    const [name = '', ...words] = argv
    const run = commands[name.toUpperCase()]
    if (run === undefined) throw new Error(`the naive store does not know ${name}`)
    const before = structuredClone(this.keys)
    try {
      return run(this, words)
    } catch (error) {
      // A command that fails changes nothing.
      this.keys = before
      throw error
    } finally {
      this.keys = this.keys.filter(([, key]) => !isEmpty(key.value))
    }
  }

  find(name: string): Key | undefined {
    return this.keys.find(([key]) => key === name)?.[1]
  }

  put(name: string, value: Value, expires = Infinity): void {
    const key = this.find(name)
    if (key) Object.assign(key, { value, expires })
    else this.keys.push([name, { value, expires }])
  }

  drop(name: string): boolean {
    const before = this.keys.length
    this.keys = this.keys.filter(([key]) => key !== name)
    return this.keys.length < before
  }

  /** Returns the value of a key that must have this type, or `blank` itself, which is stored when `create` is set. */
  value<T extends Value>(name: string, blank: T, create = false): T {
    const found = this.find(name)?.value
    if (found === undefined) {
      if (create) this.put(name, blank)
      return blank
    }
    return found.type === blank.type ? (found as T) : wrongType()
  }

  text(name: string): string | undefined {
    const found = this.find(name)?.value
    return found === undefined ? undefined : found.type === 'string' ? found.text : wrongType()
  }
  hash = (name: string, create = false) => this.value(name, { type: 'hash', pairs: [] as [string, string][] }, create)
  list = (name: string, create = false) => this.value(name, { type: 'list', items: [] as string[] }, create)
  set = (name: string, create = false) => this.value(name, { type: 'set', members: [] as string[] }, create)
  zset = (name: string, create = false) => this.value(name, { type: 'zset', scores: [] as [string, number][] }, create)
}

function isEmpty(value: Value): boolean {
  if (value.type === 'string') return false
  if (value.type === 'hash') return value.pairs.length === 0
  if (value.type === 'list') return value.items.length === 0
  return value.type === 'set' ? value.members.length === 0 : value.scores.length === 0
}

// ---- arguments --------------------------------------------------------------------------------------------------

const limit = 2n ** 63n

function big(word: string): bigint {
  if (!/^(0|-?[1-9][0-9]*)$/.test(word)) return wrong()
  const value = BigInt(word)
  return value >= limit || value < -limit ? wrong() : value
}
const int = (word: string): number => Number(big(word))
const shown = (value: bigint): number | bigint => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

function float(word: string): number {
  if (/^[+-]?inf$/i.test(word)) return word.startsWith('-') ? -Infinity : Infinity
  return /^[+-]?[0-9]+(\.[0-9]+)?(e[0-9]+)?$/.test(word) ? Number(word) : wrong()
}
const scoreText = (score: number): string =>
  score === Infinity ? 'inf' : score === -Infinity ? '-inf' : String(score === 0 ? 0 : score)

/** Slices as Python does, but with an inclusive end, for lists and sorted sets. */
function between<T>(items: readonly T[], start: number, stop: number): T[] {
  const size = items.length
  const from = start < 0 ? Math.max(size + start, 0) : start
  const to = stop < 0 ? size + stop : stop
  return items.filter((_, at) => at >= from && at <= to)
}

function increase(store: NaiveStore, name: string, by: bigint): NaiveReply {
  const next = big(store.text(name) ?? '0') + by
  if (next >= limit || next < -limit) wrong()
  store.put(name, { type: 'string', text: String(next) }, store.find(name)?.expires)
  return shown(next)
}

function setDeadline(store: NaiveStore, name: string, at: number): void {
  if (at <= store.now) store.drop(name)
  else store.find(name)!.expires = at
}

/** Returns an expiration in milliseconds, which must be positive and fit into 64 bits. */
function ahead(store: NaiveStore, word: string, unit: bigint): number {
  const time = big(word) * unit
  if (time <= 0n || time + BigInt(store.now) >= limit) wrong()
  return store.now + Number(time)
}

// ---- sorted sets ------------------------------------------------------------------------------------------------

const ordered = (scores: readonly [string, number][]): [string, number][] =>
  [...scores].sort(([a, x], [b, y]) => (x === y ? (a < b ? -1 : 1) : x - y))

const flat = (rows: readonly [string, number][], withScores: boolean): NaiveReply =>
  rows.flatMap(([member, score]) => (withScores ? [member, scoreText(score)] : [member]))

function zadd(store: NaiveStore, [name = '', ...words]: string[]): NaiveReply {
  const flags = new Set<string>()
  while (/^(nx|xx|gt|lt|ch|incr)$/i.test(words[0] ?? '')) flags.add(words.shift()!.toUpperCase())
  if (words.length === 0 || words.length % 2 !== 0) wrong()
  if (flags.has('NX') && (flags.has('XX') || flags.has('GT') || flags.has('LT'))) wrong()
  if (flags.has('GT') && flags.has('LT')) wrong()
  if (flags.has('INCR') && words.length > 2) wrong()
  const pairs = words.flatMap((word, at) => (at % 2 ? [] : [[float(word), words[at + 1]!] as const]))
  const { scores } = store.zset(name, true)
  let added = 0
  let changed = 0
  let result: NaiveReply = null
  for (const [given, member] of pairs) {
    const entry = scores.find(([each]) => each === member)
    if (entry ? flags.has('NX') : flags.has('XX')) continue
    const score = flags.has('INCR') && entry ? entry[1] + given : given
    if (Number.isNaN(score)) wrong()
    if (entry && ((flags.has('GT') && score <= entry[1]) || (flags.has('LT') && score >= entry[1]))) continue
    result = scoreText(score)
    if (entry === undefined) added++
    else if (entry[1] !== score) changed++
    if (entry) entry[1] = score
    else scores.push([member, score])
  }
  return flags.has('INCR') ? result : flags.has('CH') ? added + changed : added
}

function bound(word: string): [number, boolean] {
  return [float(word.replace(/^\(/, '')), word.startsWith('(')]
}

function inScores(store: NaiveStore, name: string, min: string, max: string): [string, number][] {
  const [low, lowOpen] = bound(min)
  const [high, highOpen] = bound(max)
  return ordered(store.zset(name).scores).filter(
    ([, score]) => (lowOpen ? score > low : score >= low) && (highOpen ? score < high : score <= high),
  )
}

// ---- sets -------------------------------------------------------------------------------------------------------

function combined(store: NaiveStore, kind: string, names: readonly string[]): string[] {
  const [first = [], ...others] = names.map((name) => store.set(name).members)
  if (kind === 'UNION') return [...new Set([...first, ...others.flat()])]
  return first.filter((member) =>
    kind === 'INTER'
      ? others.every((other) => other.includes(member))
      : !others.some((other) => other.includes(member)),
  )
}

function storeSet(store: NaiveStore, name: string, members: string[]): number {
  store.drop(name)
  if (members.length > 0) store.put(name, { type: 'set', members })
  return members.length
}

// ---- lists ------------------------------------------------------------------------------------------------------

type End = 'LEFT' | 'RIGHT'
const take = (items: string[], end: End): string | undefined => (end === 'LEFT' ? items.shift() : items.pop())
const add = (items: string[], end: End, item: string): unknown =>
  end === 'LEFT' ? items.unshift(item) : items.push(item)

function pop(store: NaiveStore, end: End, [name = '', count]: string[]): NaiveReply {
  const wanted = count === undefined ? undefined : int(count)
  if (wanted !== undefined && wanted < 0) wrong()
  const exists = store.find(name) !== undefined
  const { items } = store.list(name)
  if (wanted === undefined) return take(items, end) ?? null
  if (!exists) return null
  return Array.from({ length: Math.min(wanted, items.length) }, () => take(items, end)!)
}

function move(store: NaiveStore, from: string, to: string, [out, into]: [End, End]): NaiveReply {
  const source = store.list(from)
  if (source.items.length === 0) return null
  const target = store.list(to, true)
  const item = take(source.items, out)!
  add(target.items, into, item)
  return item
}

const end = (word: string): End => (/^(left|right)$/i.test(word) ? (word.toUpperCase() as End) : wrong())

// ---- the commands -----------------------------------------------------------------------------------------------

type Run = (store: NaiveStore, words: string[]) => NaiveReply

function push(where: End, onlyExisting: boolean): Run {
  return (store, [name = '', ...items]) => {
    if (onlyExisting && store.find(name) === undefined) return 0
    const list = store.list(name, true).items
    for (const item of items) add(list, where, item)
    return list.length
  }
}

function expire(unit: bigint): Run {
  return (store, [name = '', time = '', ...conditions]) => {
    const flags = new Set(conditions.map((word) => word.toUpperCase()))
    if ([...flags].some((flag) => !/^(NX|XX|GT|LT)$/.test(flag))) wrong()
    if ((flags.has('NX') && flags.size > 1) || (flags.has('GT') && flags.has('LT'))) wrong()
    const length = big(time) * unit
    if (length + BigInt(store.now) >= limit || length < -limit) wrong()
    const at = store.now + Number(length)
    const key = store.find(name)
    if (!key) return 0
    const has = key.expires !== Infinity
    if ((flags.has('NX') && has) || (flags.has('XX') && !has)) return 0
    if ((flags.has('GT') && at <= key.expires) || (flags.has('LT') && at >= key.expires)) return 0
    setDeadline(store, name, at)
    return 1
  }
}

const bytes = (text: string): number[] => [...text].map((char) => char.charCodeAt(0))
const bits = (text: string): string =>
  bytes(text)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')

export const commands: Readonly<Record<string, Run>> = {
  GET: (store, [name = '']) => store.text(name) ?? null,
  SET(store, [name = '', text = '', ...options]) {
    const given = new Map<string, string>()
    for (let at = 0; at < options.length; at++) {
      const option = options[at]!.toUpperCase()
      if (/^(EX|PX)$/.test(option)) given.set(option, options[++at] ?? wrong())
      else if (/^(NX|XX|GET|KEEPTTL)$/.test(option)) given.set(option, '')
      else wrong()
    }
    if ((given.has('NX') && given.has('XX')) || ['EX', 'PX', 'KEEPTTL'].filter((each) => given.has(each)).length > 1)
      wrong()
    const at = given.has('EX')
      ? ahead(store, given.get('EX')!, 1000n)
      : given.has('PX')
        ? ahead(store, given.get('PX')!, 1n)
        : Infinity
    const old = given.has('GET') ? (store.text(name) ?? null) : null
    const key = store.find(name)
    if (key ? given.has('NX') : given.has('XX')) return old
    store.put(name, { type: 'string', text }, given.has('KEEPTTL') ? key?.expires : at)
    return given.has('GET') ? old : ok
  },
  SETNX(store, [name = '', text = '']) {
    if (store.find(name)) return 0
    store.put(name, { type: 'string', text })
    return 1
  },
  SETEX(store, [name = '', time = '', text = '']) {
    store.put(name, { type: 'string', text }, ahead(store, time, 1000n))
    return ok
  },
  PSETEX(store, [name = '', time = '', text = '']) {
    store.put(name, { type: 'string', text }, ahead(store, time, 1n))
    return ok
  },
  GETSET(store, [name = '', text = '']) {
    const old = store.text(name) ?? null
    store.put(name, { type: 'string', text })
    return old
  },
  GETDEL(store, [name = '']) {
    const old = store.text(name) ?? null
    store.drop(name)
    return old
  },
  MGET: (store, names) =>
    names.map((name) => {
      const value = store.find(name)?.value
      return value?.type === 'string' ? value.text : null
    }),
  MSET(store, words) {
    for (let at = 0; at < words.length; at += 2) store.put(words[at]!, { type: 'string', text: words[at + 1]! })
    return ok
  },
  MSETNX(store, words) {
    if (words.some((name, at) => at % 2 === 0 && store.find(name))) return 0
    commands.MSET!(store, words)
    return 1
  },
  APPEND(store, [name = '', more = '']) {
    const text = (store.text(name) ?? '') + more
    store.put(name, { type: 'string', text }, store.find(name)?.expires)
    return text.length
  },
  STRLEN: (store, [name = '']) => (store.text(name) ?? '').length,
  GETRANGE(store, [name = '', start = '', stop = '']) {
    const [from, to] = [int(start), int(stop)]
    const text = store.text(name) ?? ''
    if (from < 0 && to < 0 && from > to) return ''
    const place = (index: number) => Math.max(index < 0 ? text.length + index : index, 0)
    return [...text].filter((_, at) => at >= place(from) && at <= place(to)).join('')
  },
  SETRANGE(store, [name = '', offset = '', patch = '']) {
    const at = int(offset)
    if (at < 0) wrong()
    const text = store.text(name) ?? ''
    if (patch === '') return text.length
    if (at + patch.length > 536_870_912) wrong()
    const next = text.padEnd(at, '\0').slice(0, at) + patch + text.slice(at + patch.length)
    store.put(name, { type: 'string', text: next }, store.find(name)?.expires)
    return next.length
  },
  INCR: (store, [name = '']) => increase(store, name, 1n),
  DECR: (store, [name = '']) => increase(store, name, -1n),
  INCRBY: (store, [name = '', by = '']) => increase(store, name, big(by)),
  DECRBY: (store, [name = '', by = '']) => (big(by) === -limit ? wrong() : increase(store, name, -big(by))),
  GETBIT(store, [name = '', offset = '']) {
    const at = int(offset)
    if (at < 0 || at >= 2 ** 32) wrong()
    return Number(bits(store.text(name) ?? '')[at] ?? 0)
  },
  SETBIT(store, [name = '', offset = '', bit = '']) {
    const at = int(offset)
    if (at < 0 || at >= 2 ** 32 || (bit !== '0' && bit !== '1')) wrong()
    const all = bits(store.text(name) ?? '').padEnd(8 * (Math.floor(at / 8) + 1), '0')
    const next = all.slice(0, at) + bit + all.slice(at + 1)
    const text = (next.match(/.{8}/g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 2))).join('')
    store.put(name, { type: 'string', text }, store.find(name)?.expires)
    return Number(all[at])
  },
  DEL: (store, names) => names.filter((name) => store.drop(name)).length,
  UNLINK: (store, names) => names.filter((name) => store.drop(name)).length,
  EXISTS: (store, names) => names.filter((name) => store.find(name)).length,
  TOUCH: (store, names) => names.filter((name) => store.find(name)).length,
  TYPE: (store, [name = '']) => ({ status: store.find(name)?.value.type ?? 'none' }),
  DBSIZE: (store) => store.keys.length,
  EXPIRE: expire(1000n),
  PEXPIRE: expire(1n),
  TTL(store, [name = '']) {
    const key = store.find(name)
    return !key ? -2 : key.expires === Infinity ? -1 : Math.floor((key.expires - store.now + 500) / 1000)
  },
  PTTL(store, [name = '']) {
    const key = store.find(name)
    return !key ? -2 : key.expires === Infinity ? -1 : key.expires - store.now
  },
  PERSIST(store, [name = '']) {
    const key = store.find(name)
    if (!key || key.expires === Infinity) return 0
    key.expires = Infinity
    return 1
  },
  RENAME(store, [from = '', to = '']) {
    const key = store.find(from) ?? wrong()
    if (from === to) return ok
    store.drop(to)
    store.drop(from)
    store.put(to, key.value, key.expires)
    return ok
  },
  RENAMENX(store, [from = '', to = '']) {
    if (!store.find(from)) wrong()
    if (store.find(to)) return 0
    commands.RENAME!(store, [from, to])
    return 1
  },
  HSET(store, [name = '', ...words]) {
    const { pairs } = store.hash(name, true)
    let added = 0
    for (let at = 0; at < words.length; at += 2) {
      const pair = pairs.find(([field]) => field === words[at])
      if (pair) pair[1] = words[at + 1]!
      else added += pairs.push([words[at]!, words[at + 1]!]) > 0 ? 1 : 0
    }
    return added
  },
  HSETNX(store, [name = '', field = '', text = '']) {
    const { pairs } = store.hash(name, true)
    if (pairs.some(([each]) => each === field)) return 0
    pairs.push([field, text])
    return 1
  },
  HGET: (store, [name = '', field = '']) => store.hash(name).pairs.find(([each]) => each === field)?.[1] ?? null,
  HMGET: (store, [name = '', ...fields]) =>
    fields.map((field) => store.hash(name).pairs.find(([each]) => each === field)?.[1] ?? null),
  HGETALL: (store, [name = '']) => store.hash(name).pairs.map(([field, text]) => `${field}: ${text}`),
  HKEYS: (store, [name = '']) => store.hash(name).pairs.map(([field]) => field),
  HVALS: (store, [name = '']) => store.hash(name).pairs.map(([, text]) => text),
  HLEN: (store, [name = '']) => store.hash(name).pairs.length,
  HEXISTS: (store, [name = '', field = '']) => (store.hash(name).pairs.some(([each]) => each === field) ? 1 : 0),
  HSTRLEN: (store, [name = '', field = '']) =>
    (store.hash(name).pairs.find(([each]) => each === field)?.[1] ?? '').length,
  HDEL(store, [name = '', ...fields]) {
    const hash = store.hash(name)
    const before = hash.pairs.length
    hash.pairs = hash.pairs.filter(([field]) => !fields.includes(field))
    return before - hash.pairs.length
  },
  HINCRBY(store, [name = '', field = '', by = '']) {
    const step = big(by)
    const { pairs } = store.hash(name, true)
    const pair = pairs.find(([each]) => each === field)
    const next = big(pair?.[1] ?? '0') + step
    if (next >= limit || next < -limit) wrong()
    if (pair) pair[1] = String(next)
    else pairs.push([field, String(next)])
    return shown(next)
  },
  LPUSH: push('LEFT', false),
  RPUSH: push('RIGHT', false),
  LPUSHX: push('LEFT', true),
  RPUSHX: push('RIGHT', true),
  LPOP: (store, words) => pop(store, 'LEFT', words),
  RPOP: (store, words) => pop(store, 'RIGHT', words),
  LLEN: (store, [name = '']) => store.list(name).items.length,
  LRANGE(store, [name = '', start = '', stop = '']) {
    const [from, to] = [int(start), int(stop)]
    return between(store.list(name).items, from, to)
  },
  LINDEX(store, [name = '', index = '']) {
    if (!store.find(name)) return null
    const { items } = store.list(name)
    return items.at(int(index)) ?? null
  },
  LSET(store, [name = '', index = '', item = '']) {
    if (!store.find(name)) wrong()
    const { items } = store.list(name)
    const at = int(index)
    if (items.at(at) === undefined) wrong()
    items[at < 0 ? items.length + at : at] = item
    return ok
  },
  LINSERT(store, [name = '', where = '', pivot = '', item = '']) {
    if (!/^(before|after)$/i.test(where)) wrong()
    const { items } = store.list(name)
    if (items.length === 0) return 0
    const at = items.indexOf(pivot)
    if (at < 0) return -1
    items.splice(/after/i.test(where) ? at + 1 : at, 0, item)
    return items.length
  },
  LREM(store, [name = '', count = '', item = '']) {
    const wanted = int(count)
    const list = store.list(name)
    const places = list.items.flatMap((each, at) => (each === item ? [at] : []))
    const gone = wanted === 0 ? places : wanted > 0 ? places.slice(0, wanted) : places.slice(wanted)
    list.items = list.items.filter((_, at) => !gone.includes(at))
    return gone.length
  },
  LTRIM(store, [name = '', start = '', stop = '']) {
    const [from, to] = [int(start), int(stop)]
    const list = store.list(name)
    list.items = between(list.items, from, to)
    return ok
  },
  LMOVE: (store, [from = '', to = '', out = '', into = '']) => move(store, from, to, [end(out), end(into)]),
  RPOPLPUSH: (store, [from = '', to = '']) => move(store, from, to, ['RIGHT', 'LEFT']),
  SADD(store, [name = '', ...members]) {
    const set = store.set(name, true)
    const before = set.members.length
    set.members = [...new Set([...set.members, ...members])]
    return set.members.length - before
  },
  SREM(store, [name = '', ...members]) {
    const set = store.set(name)
    const before = set.members.length
    set.members = set.members.filter((each) => !members.includes(each))
    return before - set.members.length
  },
  SCARD: (store, [name = '']) => store.set(name).members.length,
  SMEMBERS: (store, [name = '']) => store.set(name).members,
  SISMEMBER: (store, [name = '', member = '']) => (store.set(name).members.includes(member) ? 1 : 0),
  SMISMEMBER: (store, [name = '', ...members]) =>
    members.map((member) => (store.set(name).members.includes(member) ? 1 : 0)),
  SMOVE(store, [from = '', to = '', member = '']) {
    if (!store.find(from)) return 0
    const [source, target] = [store.set(from), store.set(to)]
    if (!source.members.includes(member)) return 0
    if (from === to) return 1
    source.members = source.members.filter((each) => each !== member)
    store.set(to, true).members = [...new Set([...target.members, member])]
    return 1
  },
  SINTER: (store, names) => combined(store, 'INTER', names),
  SUNION: (store, names) => combined(store, 'UNION', names),
  SDIFF: (store, names) => combined(store, 'DIFF', names),
  SINTERSTORE: (store, [to = '', ...names]) => storeSet(store, to, combined(store, 'INTER', names)),
  SUNIONSTORE: (store, [to = '', ...names]) => storeSet(store, to, combined(store, 'UNION', names)),
  SDIFFSTORE: (store, [to = '', ...names]) => storeSet(store, to, combined(store, 'DIFF', names)),
  ZADD: zadd,
  ZINCRBY: (store, [name = '', by = '', member = '']) => zadd(store, [name, 'INCR', by, member]),
  ZREM(store, [name = '', ...members]) {
    const set = store.zset(name)
    const before = set.scores.length
    set.scores = set.scores.filter(([each]) => !members.includes(each))
    return before - set.scores.length
  },
  ZCARD: (store, [name = '']) => store.zset(name).scores.length,
  ZSCORE(store, [name = '', member = '']) {
    const entry = store.zset(name).scores.find(([each]) => each === member)
    return entry ? scoreText(entry[1]) : null
  },
  ZCOUNT: (store, [name = '', min = '', max = '']) => inScores(store, name, min, max).length,
  ZREMRANGEBYRANK(store, [name = '', start = '', stop = '']) {
    const [from, to] = [int(start), int(stop)]
    const set = store.zset(name)
    const gone = between(ordered(set.scores), from, to)
    set.scores = set.scores.filter(([member]) => !gone.some(([each]) => each === member))
    return gone.length
  },
  ZREVRANGE(store, [name = '', start = '', stop = '', withScores]) {
    const [from, to] = [int(start), int(stop)]
    if (withScores !== undefined && !/^withscores$/i.test(withScores)) wrong()
    return flat(between(ordered(store.zset(name).scores).reverse(), from, to), withScores !== undefined)
  },
}
