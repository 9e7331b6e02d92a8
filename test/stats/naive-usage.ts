import type { Entry, EntryOf } from '../../src/kernel/traffic-log.js'

// Second implementation of the data store's statistics: walks over all entries of the traffic log, with a table of the
// commands' categories from the documentation of redis, and a plain model of the keys.

export const kinds: Readonly<Record<string, 'read' | 'write' | 'script' | 'other'>> = {
  GET: 'read',
  MGET: 'read',
  EXISTS: 'read',
  LLEN: 'read',
  SET: 'write',
  DEL: 'write',
  APPEND: 'write',
  RPUSH: 'write',
  LPOP: 'write',
  FLUSHALL: 'write',
  EVAL: 'script',
  PING: 'other',
  ECHO: 'other',
  MULTI: 'other',
  EXEC: 'other',
}

/** Scripts of the test and the commands that they run, with `K` for their key. */
export const scripts: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "return redis.call('GET', KEYS[1])": [['GET', 'K']],
  "redis.call('SET', KEYS[1], 'x') return redis.call('EXISTS', KEYS[1])": [
    ['SET', 'K', 'x'],
    ['EXISTS', 'K'],
  ],
  "redis.call('APPEND', KEYS[1], 'yy') redis.call('DEL', KEYS[1])": [
    ['APPEND', 'K', 'yy'],
    ['DEL', 'K'],
  ],
}

interface CountedEvent {
  readonly at: number
  readonly name: string
  readonly hits: number
  readonly misses: number
}

interface Key {
  value: string | string[]
  readonly expiresAt: number
}

/** Everything that the report needs: each command with its time, bytes with their time, and the keys over time. */
export class NaiveUsage {
  readonly commands: CountedEvent[] = []
  readonly bytes: { readonly at: number; readonly amount: number }[] = []
  readonly #keys = new Map<string, Key>()
  /** State of the keys after each entry that may have changed them. */
  readonly #states: { readonly at: number; readonly keys: ReadonlyMap<string, Key> }[] = []

  constructor(entries: readonly Entry[]) {
    for (const entry of entries) {
      if (entry.type === 'request') this.#request(entry)
      if (entry.type === 'command') this.#command(entry)
    }
  }

  /** The service bills MULTI and EXEC around each transaction. */
  #request({ at, url, response }: EntryOf<'request'>): void {
    if (!url.endsWith('/multi-exec') || response?.status !== 200) return
    for (const name of ['MULTI', 'EXEC']) this.commands.push({ at, name, hits: 0, misses: 0 })
  }

  #command({ at, argv, via, reply, error }: EntryOf<'command'>): void {
    const [name, ...words] = argv as readonly string[]
    const isCounted = via !== 'direct' && Object.hasOwn(kinds, name!)
    if (name === 'EXEC') this.commands.push({ at, name: 'MULTI', hits: 0, misses: 0 })
    if (name === 'MULTI') return
    const rows = name === 'EVAL' ? scripts[words[0]!]!.map((row) => row.map((w) => (w === 'K' ? words[2]! : w))) : []
    for (const row of [[name!, ...words], ...rows]) {
      const { hits, misses } = error === undefined ? this.#run(row, at) : { hits: 0, misses: 0 }
      if (isCounted) this.commands.push({ at, name: row[0]!, hits, misses })
    }
    if (isCounted && name !== 'EXEC' && error === undefined)
      this.bytes.push({ at, amount: argv.reduce((sum, word) => sum + word.length, 0) + sizeOf(reply) })
    this.#states.push({ at, keys: new Map([...this.#keys].map(([key, state]) => [key, { ...state }])) })
  }

  #run([name, ...words]: readonly string[], at: number): { hits: number; misses: number } {
    const [key = '', value = ''] = words
    const isThere = (each: string): boolean => (this.#keys.get(each)?.expiresAt ?? 0) > at
    const old = isThere(key) ? this.#keys.get(key)! : undefined
    const expiresAt = old?.expiresAt ?? Number.POSITIVE_INFINITY
    if (name === 'SET') {
      const px = words[2] === 'PX' ? at + Number(words[3]) : Number.POSITIVE_INFINITY
      this.#keys.set(key, { value, expiresAt: px })
    } else if (name === 'APPEND') this.#keys.set(key, { value: `${old?.value ?? ''}${value}`, expiresAt })
    else if (name === 'RPUSH') this.#keys.set(key, { value: [...((old?.value as string[]) ?? []), value], expiresAt })
    else if (name === 'LPOP' && old !== undefined) {
      const left = (old.value as string[]).slice(1)
      if (left.length === 0) this.#keys.delete(key)
      else this.#keys.set(key, { value: left, expiresAt })
    } else if (name === 'DEL') this.#keys.delete(key)
    else if (name === 'FLUSHALL') this.#keys.clear()
    if (kinds[name!] !== 'read') return { hits: 0, misses: 0 }
    const hits = words.filter(isThere).length
    return { hits, misses: words.length - hits }
  }

  count(from: number, until: number, kind?: string): number {
    const isIn = ({ at, name }: CountedEvent): boolean =>
      at >= from && at < until && (kind === undefined || kinds[name] === kind || name === kind)
    return this.commands.filter(isIn).length
  }

  sum(what: 'hits' | 'misses', from: number, until: number): number {
    return this.commands.filter(({ at }) => at >= from && at < until).reduce((sum, event) => sum + event[what], 0)
  }

  bytesIn(from: number, until: number): number {
    return this.bytes.filter(({ at }) => at >= from && at < until).reduce((sum, { amount }) => sum + amount, 0)
  }

  /** Returns the number of keys, and the bytes of keys and values, at an instant. */
  sizesAt(instant: number): { readonly keys: number; readonly bytes: number } {
    const state = this.#states.findLast(({ at }) => at <= instant)?.keys ?? new Map<string, Key>()
    const live = [...state].filter(([, { expiresAt }]) => expiresAt > instant)
    const bytes = live.reduce((sum, [key, { value }]) => sum + key.length + [value].flat().join('').length, 0)
    return { keys: live.length, bytes }
  }
}

function sizeOf(reply: unknown): number {
  if (Array.isArray(reply)) return reply.reduce((sum, item) => sum + sizeOf(item), 0)
  if (typeof reply === 'number') return String(reply).length
  if (typeof reply === 'object' && reply !== null && 'text' in reply) return (reply as { text: string }).text.length
  return typeof reply === 'string' ? reply.length : 0
}
