import type { Random } from '../../../src/kernel/random.js'

/** Returns random Lua sources: syntactically valid ones that combine all features, and random tokens. */
export function randomProgram(random: Random): string {
  return new Generator(random).block(2)
}

/** Returns tokens and bytes in random order. */
export function randomText(random: Random): string {
  let text = ''
  for (let count = random.int(30); count >= 0; count--)
    text += `${pick(random, tokens)}${pick(random, [' ', ' ', '\n', ''])}`
  return text
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.int(list.length)]!
}

const tokens = (
  'and break do else elseif end false for function if in local nil not or repeat return then true until while ' +
  '+ - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... a b c x 1 2.5 0x1F 1e3 "text" \'t\' [[long]] -- --[[ ]] ' +
  '~ ! @ \\ " \' [= 3x 1..2 KEYS ARGV redis.call string.rep #! \x00 \xff \x1b'
).split(' ')

const names = ['a', 'b', 'c', 'd', 'KEYS', 'ARGV']
const literals = [
  'nil',
  'true',
  'false',
  '0',
  '1',
  '-1',
  '2',
  '3.7',
  '1e308',
  '-0',
  '2^53',
  '0/0',
  '1/0',
  "''",
  "'a'",
  "'10'",
  "'0x1p3'",
  "'%d+'",
  "'(.-)%s*'",
  "'%b()'",
  "'[^a-z]'",
  '"\\0\\255"',
  '{}',
  '{1, 2, 3}',
  '{a = 1, b = {2}}',
  'cjson.null',
  '...',
]
const functions = [
  'tostring',
  'tonumber',
  'type',
  'pairs',
  'ipairs',
  'next',
  'select',
  'unpack',
  'rawget',
  'rawset',
  'rawequal',
  'setmetatable',
  'getmetatable',
  'pcall',
  'xpcall',
  'error',
  'assert',
  'loadstring',
  'load',
  'string.rep',
  'string.sub',
  'string.byte',
  'string.char',
  'string.find',
  'string.match',
  'string.gmatch',
  'string.gsub',
  'string.format',
  'string.upper',
  'string.reverse',
  'table.insert',
  'table.remove',
  'table.concat',
  'table.sort',
  'table.maxn',
  'math.floor',
  'math.random',
  'math.max',
  'math.ldexp',
  'math.fmod',
  'coroutine.wrap',
  'coroutine.create',
  'coroutine.resume',
  'coroutine.yield',
  'coroutine.status',
  'redis.call',
  'redis.pcall',
  'redis.error_reply',
  'redis.sha1hex',
  'redis.setresp',
  'cjson.encode',
  'cjson.decode',
  'cmsgpack.pack',
  'cmsgpack.unpack',
  'struct.pack',
  'struct.unpack',
  'bit.band',
  'bit.tohex',
  'a',
  'b',
]
const commands = [
  "'get', 'k1'",
  "'set', 'k1', 1",
  "'incr', 'k2'",
  "'lpush', 'l', 1, 2",
  "'lrange', 'l', 0, -1",
  "'hset', 'h', 'f', 1",
  "'hgetall', 'h'",
  "'zadd', 'z', 1, 'm'",
  "'scan', 0",
  "'nope'",
  "'eval', 'return 1', 0",
]
const operators = ['+', '-', '*', '/', '%', '^', '..', '==', '~=', '<', '<=', '>', '>=', 'and', 'or']
const events = [
  '__index',
  '__newindex',
  '__call',
  '__add',
  '__concat',
  '__eq',
  '__lt',
  '__le',
  '__unm',
  '__tostring',
  '__metatable',
]

class Generator {
  readonly #random: Random
  #loops = 0

  constructor(random: Random) {
    this.#random = random
  }

  block(depth: number): string {
    const statements: string[] = ['local a, b, c, d = 1, {}, "s"']
    for (let count = this.#random.int(4) + 1; count > 0; count--) {
      const statement = this.#statement(depth)
      // Most statements fail: without protection the others would never run.
      const isOpen = statement.includes('break') || statement.startsWith('local')
      statements.push(isOpen || this.#random.chance(1, 8) ? statement : `pcall(function() ${statement} end)`)
    }
    if (this.#random.chance(1, 3)) statements.push(`return ${this.#expressions(depth)}`)
    else if (this.#random.chance(2, 3)) statements.push(`return ${pick(this.#random, names)}`)
    return statements.join('\n')
  }

  #statement(depth: number): string {
    const random = this.#random
    const at = depth > 0 ? random.int(14) : random.int(5)
    switch (at) {
      case 0:
        return `local ${pick(random, names)} = ${this.#literal()}`
      case 1:
        return `${this.#variable(depth)} = ${this.#expression(depth)}`
      case 2:
        return `${this.#variable(depth)}, ${this.#variable(depth)} = ${this.#expressions(depth)}`
      case 3:
        return `c = ${this.#call(depth)}`
      case 4:
        return this.#loops > 0 ? `if ${this.#expression(0)} then break end` : `local d = ${this.#expression(depth)}`
      case 5:
        return `if ${this.#expression(depth)} then ${this.#inner(depth)} else ${this.#inner(depth)} end`
      case 6:
        return `while ${this.#expression(depth)} do ${this.#loop(depth)} end`
      case 7:
        return `repeat ${this.#loop(depth)} until ${this.#expression(depth)}`
      case 8:
        return `for i = ${this.#expression(0)}, ${this.#expression(0)}, ${this.#expression(0)} do ${this.#loop(depth)} end`
      case 9:
        return `for a, b in ${pick(random, ['pairs', 'ipairs'])}(${this.#expression(depth)}) do ${this.#loop(depth)} end`
      case 10:
        return `local function a(${pick(random, ['', 'b', 'b, c', '...'])}) ${this.#inner(depth)} end`
      case 11:
        return `b = setmetatable({}, {${pick(random, events)} = ${this.#expression(depth)}})`
      case 12:
        return `do ${this.#inner(depth)} end`
      default:
        return `for d in ${this.#expressions(depth)} do ${this.#loop(depth)} end`
    }
  }

  #inner(depth: number): string {
    const loops = this.#loops
    this.#loops = 0
    const block = this.block(depth - 1)
    this.#loops = loops
    return block
  }

  #loop(depth: number): string {
    this.#loops++
    const block = this.block(depth - 1)
    this.#loops--
    return block
  }

  #variable(depth: number): string {
    const random = this.#random
    const name = pick(random, names)
    return random.chance(1, 2) ? name : `${name}[${this.#expression(depth - 1)}]`
  }

  #expressions(depth: number): string {
    const list: string[] = []
    for (let count = this.#random.int(3); count >= 0; count--) list.push(this.#expression(depth))
    return list.join(', ')
  }

  #expression(depth: number): string {
    const random = this.#random
    if (depth <= 0) return random.chance(1, 2) ? pick(random, names) : this.#literal()
    switch (random.int(9)) {
      case 0:
        return this.#literal()
      case 1:
        return pick(random, names)
      case 2:
      case 3:
        return `(${this.#expression(depth - 1)} ${pick(random, operators)} ${this.#expression(depth - 1)})`
      case 4:
        return `${pick(random, ['- ', 'not ', '#'])}${this.#expression(depth - 1)}`
      case 5:
        return `${pick(random, names)}[${this.#expression(depth - 1)}]`
      case 6:
        return `function(${pick(random, ['', 'a', 'a, b', '...'])}) ${this.#inner(depth)} end`
      case 7:
        return `{${this.#expressions(depth - 1)}, k = ${this.#expression(depth - 1)}, [${this.#literal()}] = 1}`
      default:
        return this.#call(depth)
    }
  }

  /** `...` is an error in most functions, so it is rare. */
  #literal(): string {
    const literal = pick(this.#random, literals)
    return literal === '...' && this.#random.chance(9, 10) ? '7' : literal
  }

  #call(depth: number): string {
    const random = this.#random
    if (random.chance(1, 6)) return `redis.${pick(random, ['call', 'pcall'])}(${pick(random, commands)})`
    if (random.chance(1, 8))
      return `(${this.#expression(depth - 1)}):${pick(random, ['rep', 'sub', 'gsub', 'x'])}(${this.#expressions(depth - 1)})`
    return `${pick(random, functions)}(${random.chance(1, 10) ? '' : this.#expressions(depth - 1)})`
  }
}
