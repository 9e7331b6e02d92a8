/**
 * The simplest model of one array: a map from index to value, and loops. It shares no code with the store. Its replies
 * are texts: integers as digits, strings in quotes, `nil`, lists in brackets, errors after a minus.
 */
export interface ArrayPolicies {
  readonly arrayScanReverse: 'empty' | 'error' | 'reverse'
  readonly arrayLastItems: 'length' | 'values'
  readonly arrayRing: 'inferred' | 'stored'
}

const last = 2n ** 64n - 2n

type Words = readonly string[]

class NaiveError extends Error {}

export class NaiveArray {
  slots = new Map<bigint, string>()
  /** Index that the latest append wrote; -1 if there was none. */
  cursor = -1n
  ringSize: bigint | undefined

  constructor(readonly policies: ArrayPolicies) {}

  /** Runs a command without its key, such as `['ARSET', '0', 'a']`. */
  run([name, ...words]: Words): string {
    let reply: string
    try {
      reply = this.#commands[name!]!(words)
    } catch (error) {
      if (!(error instanceof NaiveError)) throw error
      reply = `-ERR ${error.message}`
    }
    if (this.slots.size === 0) {
      this.cursor = -1n
      this.ringSize = undefined
    }
    return reply
  }

  get length(): bigint {
    return [...this.slots.keys()].reduce((top, index) => (index + 1n > top ? index + 1n : top), 0n)
  }

  #sorted(from: bigint, to: bigint): [bigint, string][] {
    const [low, high] = from < to ? [from, to] : [to, from]
    const slots = [...this.slots].filter(([index]) => index >= low && index <= high)
    slots.sort(([a], [b]) => (a < b ? -1 : 1))
    return from > to ? slots.reverse() : slots
  }

  #set(pairs: readonly (readonly [bigint, string])[]): string {
    let added = 0
    for (const [index, value] of pairs) {
      if (!this.slots.has(index)) added++
      this.slots.set(index, value)
    }
    return String(added)
  }

  #delete(indexes: Iterable<bigint>): string {
    let removed = 0
    for (const index of indexes) if (this.slots.delete(index)) removed++
    return String(removed)
  }

  /** Index at which a walk back begins. */
  #newest(length: bigint): bigint {
    return this.cursor >= 0n && this.cursor < length ? this.cursor : length - 1n
  }

  #rebuild(size: bigint): void {
    const isStored = this.policies.arrayRing === 'stored' && this.ringSize !== undefined
    const length = isStored ? this.ringSize! : this.length
    const kept: string[] = []
    const start = this.#newest(length)
    const order: bigint[] = []
    // Only positions near filled slots matter, because the indexes of these programs are far apart.
    const near = [...this.slots.keys()].filter((index) => index < length)
    const back = (index: bigint): bigint => (start >= index ? start - index : start + length - index)
    near.sort((a, b) => (back(a) < back(b) ? -1 : 1))
    for (const [at, index] of near.entries()) {
      if (!isStored && this.policies.arrayRing === 'inferred' && back(index) !== BigInt(at)) break
      if (this.policies.arrayRing === 'stored' || back(index) === BigInt(at)) order.push(index)
    }
    for (const index of order) if (BigInt(kept.length) < size) kept.unshift(this.slots.get(index)!)
    this.slots = new Map(kept.map((value, at) => [BigInt(at), value]))
    this.cursor = BigInt(kept.length) - 1n
  }

  #ring(size: bigint, values: Words): string {
    const { length } = this
    const wrapped = this.cursor >= 0n && this.cursor + 1n < length
    const changed =
      this.policies.arrayRing === 'stored' && this.ringSize !== undefined
        ? this.ringSize !== size
        : length > size || (length < size && wrapped)
    if (changed) this.#rebuild(size)
    this.ringSize = size
    for (const value of values) {
      this.cursor = (this.cursor + 1n) % size
      this.slots.set(this.cursor, value)
    }
    return integer(this.cursor)
  }

  #lastItems(count: number, isReversed: boolean): string {
    const { length } = this
    const most = this.policies.arrayLastItems === 'values' ? BigInt(this.slots.size) : length
    const items: string[] = []
    for (let at = this.#newest(length); items.length < count && BigInt(items.length) < most; ) {
      items.push(shown(this.slots.get(at)))
      at = at === 0n ? length - 1n : at - 1n
    }
    return list(isReversed ? items : items.reverse())
  }

  #grep(from: bigint, to: bigint, options: Words): string {
    const tests: ((value: string) => boolean)[] = []
    const folded = options.includes('NOCASE')
    const fold = (text: string): string => (folded ? text.toLowerCase() : text)
    let limit = Number.POSITIVE_INFINITY
    for (let at = 0; at < options.length; at++) {
      const word = options[at]!
      if (word === 'LIMIT') limit = Number(options[++at])
      if (!/^(?:EXACT|MATCH|GLOB|RE)$/.test(word)) continue
      const pattern = options[++at]!
      if (word === 'EXACT') tests.push((value) => fold(value) === fold(pattern))
      if (word === 'MATCH') tests.push((value) => fold(value).split(fold(pattern)).length > 1 || pattern === '')
      if (word === 'GLOB') tests.push((value) => globOf(pattern, folded).test(value))
      if (word === 'RE') tests.push((value) => new RegExp(pattern, folded ? 'i' : '').test(value))
    }
    const every = options.lastIndexOf('AND') > options.lastIndexOf('OR')
    const found = this.#sorted(from, to).filter(([, value]) =>
      every ? tests.every((test) => test(value)) : tests.some((test) => test(value)),
    )
    const kept = found.slice(0, limit)
    return list(kept.map((slot) => (options.includes('WITHVALUES') ? pair(slot) : integer(slot[0]))))
  }

  #operate(from: bigint, to: bigint, name: string, wanted: string | undefined): string {
    const values = this.#sorted(from, to).map(([, value]) => value)
    if (name === 'USED') return String(values.length)
    if (name === 'MATCH') return String(values.filter((value) => value === wanted).length)
    const numbers = values.filter((value) => /^[+-]?\d+(\.\d+)?$/.test(value)).map(Number)
    if (numbers.length === 0) return 'nil'
    if (name === 'SUM') return shown(String(numbers.reduce((sum, number) => sum + number)))
    if (name === 'MIN') return shown(String(Math.min(...numbers)))
    if (name === 'MAX') return shown(String(Math.max(...numbers)))
    const whole = numbers.map((number) => BigInt(Math.trunc(number)))
    if (name === 'AND') return String(whole.reduce((bits, number) => bits & number))
    if (name === 'OR') return String(whole.reduce((bits, number) => bits | number))
    return String(whole.reduce((bits, number) => bits ^ number))
  }

  readonly #commands: Readonly<Record<string, (words: Words) => string>> = {
    ARSET: ([first, ...values]) => {
      const start = indexOf(first!)
      if (start + BigInt(values.length) - 1n > last) throw new NaiveError('invalid array index')
      return this.#set(values.map((value, at) => [start + BigInt(at), value]))
    },
    ARMSET: (words) => this.#set(pairs(words).map(([index, value]) => [indexOf(index), value])),
    ARGET: ([index]) => shown(this.slots.get(indexOf(index!))),
    ARMGET: (words) => list(words.map(indexOf).map((index) => shown(this.slots.get(index)))),
    ARGETRANGE: ([start, end]) => {
      const [from, to] = [indexOf(start!), indexOf(end!)]
      const span = from > to ? from - to : to - from
      if (span >= 1_000_000n) throw new NaiveError('range exceeds maximum of 1000000 items')
      const step = from > to ? -1n : 1n
      const items: string[] = []
      for (let at = 0n; at <= span; at++) items.push(shown(this.slots.get(from + at * step)))
      return list(items)
    },
    ARSCAN: ([start, end, , limit = '99']) => {
      const [from, to] = [indexOf(start!), indexOf(end!)]
      if (from > to && this.policies.arrayScanReverse === 'error')
        throw new NaiveError('start must not be greater than end')
      if (from > to && this.policies.arrayScanReverse === 'empty') return '[]'
      return list(this.#sorted(from, to).slice(0, Number(limit)).map(pair))
    },
    ARGREP: ([start, end, ...options]) => {
      const [from, to] = [start!, end!].map((bound) =>
        bound === '-' ? 0n : bound === '+' ? this.length - 1n : indexOf(bound),
      )
      return this.#grep(from!, to!, options)
    },
    ARDEL: (words) => this.#delete(words.map(indexOf)),
    ARDELRANGE: (words) => {
      const ranges = pairs(words).map((range) => range.map(indexOf))
      return this.#delete(ranges.flatMap(([from, to]) => this.#sorted(from!, to!).map(([index]) => index)))
    },
    ARCOUNT: () => String(this.slots.size),
    ARLEN: () => integer(this.length),
    ARINSERT: (values) => {
      if (this.cursor + BigInt(values.length) > last) throw new NaiveError('insert index overflow')
      for (const value of values) this.slots.set(++this.cursor, value)
      return integer(this.cursor)
    },
    ARRING: ([size, ...values]) => this.#ring(BigInt(size!), values),
    ARLASTITEMS: ([count, order]) => this.#lastItems(Number(count), order === 'REV'),
    ARNEXT: () => (this.cursor === last ? 'nil' : integer(this.cursor + 1n)),
    ARSEEK: ([index]) => {
      const next = index === String(last + 1n) ? last + 1n : indexOf(index!)
      if (this.slots.size === 0) return '0'
      this.cursor = next - 1n
      return '1'
    },
    AROP: ([start, end, name, wanted]) => this.#operate(indexOf(start!), indexOf(end!), name!, wanted),
  }
}

function indexOf(text: string): bigint {
  if (!/^\d+$/.test(text) || BigInt(text) > last) throw new NaiveError('invalid array index')
  return BigInt(text)
}

function pairs(words: Words): [string, string][] {
  return words.flatMap((word, at): [string, string][] => (at % 2 === 0 ? [[word, words[at + 1]!]] : []))
}

function integer(value: bigint): string {
  return value >= 2n ** 63n ? shown(String(value)) : String(value)
}

function shown(value: string | undefined): string {
  return value === undefined ? 'nil' : JSON.stringify(value)
}

function pair([index, value]: readonly [bigint, string]): string {
  return list([integer(index), shown(value)])
}

function list(items: readonly string[]): string {
  return `[${items.join(', ')}]`
}

/** Only for patterns of letters, `*` and `?`. */
function globOf(pattern: string, isFolded: boolean): RegExp {
  return new RegExp(`^${pattern.replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`, isFolded ? 'i' : '')
}
