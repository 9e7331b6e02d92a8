import { createRandom, type Random } from '../../../src/kernel/random.js'

// Random programs of several connections, some of which wait. Each step is a line: `c2 BLPOP a b 0`, commands of a
// transaction between bars, `advance 300`, or `unblock c2 ERROR`.

export const connections: readonly string[] = ['c1', 'c2', 'c3', 'c4', 'c5']
/** Connection for commands that do not wait. */
export const helper = 'main'
const keys = ['a', 'b', 'c', 'd']
const usual = { list: ['a', 'b'], zset: ['c'], stream: ['d'] } as const
const groups = ['g', 'h']

/** Timeout that ends with the next advance; other commands may run during longer ones. */
export const briefMs = 20
const brief = String(briefMs / 1000)
const advance = 'advance 80'

/** Writes a program step by step, depending on which connections wait. */
export class Programmer {
  readonly #random: Random
  #next: string[] = []
  #id = 0

  constructor(seed: string) {
    this.#random = createRandom(`waiting ${seed}`)
  }

  step(waiting: ReadonlySet<string>): string {
    const planned = this.#next.shift()
    if (planned !== undefined) return planned
    const random = this.#random
    const free = connections.filter((name) => !waiting.has(name))
    if (waiting.size > 0 && random.chance(1, 25)) {
      return `unblock ${[...waiting][random.int(waiting.size)]} ${this.#one('TIMEOUT', 'ERROR')}`
    }
    if (free.length > 0 && random.chance(1, 2)) return `${free[random.int(free.length)]} ${this.#waiting()}`
    if (random.chance(1, 6)) {
      const rows = Array.from({ length: 2 + random.int(4) }, () =>
        random.chance(1, 8) ? this.#waiting('5') : this.#plain(),
      )
      return `${helper} MULTI | ${rows.join(' | ')}`
    }
    const plain = this.#plain()
    return `${helper} ${plain.includes(' | ') ? `MULTI | ${plain}` : plain}`
  }

  #one(...choices: readonly string[]): string {
    return choices[this.#random.int(choices.length)]!
  }

  /** Returns a key, usually one that others use for the same type. */
  #key(type?: keyof typeof usual): string {
    return type !== undefined && this.#random.chance(9, 10) ? this.#one(...usual[type]) : this.#one(...keys)
  }

  #some(type?: keyof typeof usual): string {
    return Array.from({ length: 1 + this.#random.int(3) }, () => this.#key(type)).join(' ')
  }

  #timeout(): string {
    if (!this.#random.chance(1, 8)) return this.#one('0', '60', '99.5')
    this.#next = [advance]
    return brief
  }

  #waiting(given?: string): string {
    const random = this.#random
    const timeout = given ?? this.#timeout()
    const end = (): string => this.#one('LEFT', 'RIGHT')
    const many = (type: keyof typeof usual): string[] =>
      Array.from({ length: 1 + random.int(2) }, () => this.#key(type))
    const block = timeout === brief ? String(briefMs) : this.#one('0', '60000')
    const streams = many('stream')
    const ids = streams.map(() => this.#one('$', '$', '0', String(this.#id)))
    const rows = [
      () => `${this.#one('BLPOP', 'BRPOP')} ${this.#some('list')} ${timeout}`,
      () => `${this.#one('BLPOP', 'BRPOP')} ${this.#some('list')} ${timeout}`,
      () => `BLMOVE ${this.#key('list')} ${this.#key('list')} ${end()} ${end()} ${timeout}`,
      () => `BRPOPLPUSH ${this.#key('list')} ${this.#key('list')} ${timeout}`,
      () => {
        const wanted = many('list')
        return `BLMPOP ${timeout} ${wanted.length} ${wanted.join(' ')} ${end()} COUNT ${1 + random.int(3)}`
      },
      () => `${this.#one('BZPOPMIN', 'BZPOPMAX')} ${this.#some('zset')} ${timeout}`,
      () => {
        const wanted = many('zset')
        return `BZMPOP ${timeout} ${wanted.length} ${wanted.join(' ')} ${this.#one('MIN', 'MAX')} COUNT ${1 + random.int(3)}`
      },
      () => `XREAD ${this.#one('', 'COUNT 1 ')}BLOCK ${block} STREAMS ${streams.join(' ')} ${ids.join(' ')}`,
      () => {
        const [stream] = streams
        return `XREADGROUP GROUP ${this.#one(...groups)} ${this.#one('ada', 'ben')} ${this.#one('', 'COUNT 1 ')}BLOCK ${block} STREAMS ${stream} >`
      },
      () => `WAIT ${this.#one('0', '1')} ${timeout === brief ? String(briefMs) : '60000'}`,
    ]
    return rows[random.int(rows.length)]!()
  }

  #plain(): string {
    const random = this.#random
    const key = this.#key()
    const values = (): string => Array.from({ length: 1 + random.int(3) }, () => String(random.int(100))).join(' ')
    const pairs = (): string =>
      Array.from({ length: 1 + random.int(3) }, () => `${random.int(9)} m${random.int(9)}`).join(' ')
    const other = this.#key()
    const rows = [
      () => `${this.#one('LPUSH', 'RPUSH')} ${this.#key('list')} ${values()}`,
      () => `${this.#one('LPUSH', 'RPUSH')} ${this.#key('list')} ${values()}`,
      () => `${this.#one('LPUSH', 'RPUSH')} ${this.#key('list')} ${values()}`,
      () => `ZADD ${this.#key('zset')} ${pairs()}`,
      () => `ZADD ${this.#key('zset')} ${pairs()}`,
      () => `XADD ${this.#key('stream')} ${++this.#id}-1 f ${random.int(9)}`,
      () => `XADD ${this.#key('stream')} ${++this.#id}-1 f ${random.int(9)}`,
      () => `XGROUP CREATE ${this.#key('stream')} ${this.#one(...groups)} ${this.#one('$', '0')} MKSTREAM`,
      () => `XGROUP CREATE ${this.#key('stream')} ${this.#one(...groups)} ${this.#one('$', '0')} MKSTREAM`,
      () => `XGROUP DESTROY ${this.#key('stream')} ${this.#one(...groups)}`,
      () => `XGROUP SETID ${this.#key('stream')} ${this.#one(...groups)} 0`,
      () => `XTRIM ${key} MAXLEN 2`,
      () => `DEL ${this.#some()} ${this.#some()}`,
      () => `DEL ${this.#some()} ${this.#some()}`,
      () => `${this.#one('SET', 'SETNX')} ${key} text`,
      () => `RENAME ${key} ${other}`,
      () => `COPY ${key} ${other}${this.#one('', ' REPLACE')}`,
      () => `LMOVE ${this.#key('list')} ${this.#key('list')} LEFT RIGHT`,
      () => `LPOP ${key}`,
      () => `LPUSHX ${key} x`,
      // When these replace a value of another type, redis-server does not serve clients that wait, but the double does.
      () => `DEL ${other} | ZUNIONSTORE ${other} 2 ${key} ${this.#key()}`,
      () => `DEL ${other} | ZRANGESTORE ${other} ${key} 0 -1`,
      () => `ZREM ${key} m1 m2 m3`,
      () => `DEL ${other} | SORT ${key} ALPHA STORE ${other}`,
      () => `EXPIRE ${key} 0`,
      () => `EXPIRE ${key} 1000`,
      () => `PERSIST ${key}`,
      () =>
        `EVAL redis.pcall('rpush',KEYS[1],'p','q')redis.pcall('rpush',KEYS[2],'r') 2 ${this.#key('list')} ${this.#key('list')}`,
      () => `EVAL redis.pcall('rpush',KEYS[1],'p')redis.pcall('del',KEYS[1]) 1 ${this.#key('list')}`,
      () => this.#one('FLUSHALL', 'PING', 'PING'),
    ]
    return rows[random.int(rows.length)]!()
  }
}

/** Commands that read the final state. */
export const looks: readonly string[] = keys.flatMap((key) => [
  `TYPE ${key}`,
  `LRANGE ${key} 0 -1`,
  `ZRANGE ${key} 0 -1 WITHSCORES`,
  `XRANGE ${key} - +`,
  ...groups.map((group) => `XPENDING ${key} ${group}`),
])

/** Returns the arguments of each command: several rows for a transaction. */
export function rowsOf(line: string): string[][] {
  return line
    .replace(/^MULTI \| /, '')
    .split(' | ')
    .map((row) => row.split(' '))
}

/** Step and its results: the raw reply of each connection that received one. */
export type Row = readonly [step: string, replies: Readonly<Record<string, string>>]

/** Invalid commands, which show the order of checks, and blocking commands inside transactions. */
export const wordings: readonly string[] = `
BLPOP | BLPOP a | BLPOP a x | BLPOP a -1 | BLPOP a -0.5 | BLPOP a inf | BLPOP a nan | BLPOP a 1e300
BRPOP a 1,5 | BLMOVE a b LEFT | BLMOVE a b UP LEFT x | BLMOVE a b LEFT UP x | BLMOVE a b left right x | BLMOVE a b LEFT LEFT -1 | BLMOVE a b LEFT LEFT 0 0
BRPOPLPUSH a b | BRPOPLPUSH a b x | BRPOPLPUSH a b -1
BLMPOP 0 | BLMPOP 0 1 a | BLMPOP x 1 a LEFT | BLMPOP 0 0 a LEFT | BLMPOP 0 x a LEFT | BLMPOP 0 2 a LEFT | BLMPOP 0 1 a UP | BLMPOP x 1 a LEFT COUNT 0 | BLMPOP 0 1 a LEFT COUNT 0 | BLMPOP 0 1 a LEFT COUNT | BLMPOP 0 1 a LEFT COUNT 1 COUNT 1 | BLMPOP -1 1 a LEFT
BZPOPMIN a | BZPOPMIN a x | BZPOPMAX a -1 | BZMPOP 0 1 a LEFT | BZMPOP x 1 a MIN | BZMPOP 0 0 a MIN | BZMPOP -1 1 a MIN | BZMPOP 0 1 a MIN COUNT -1
XREAD BLOCK | XREAD BLOCK x STREAMS a $ | XREAD BLOCK -1 STREAMS a $ | XREAD BLOCK 1.5 STREAMS a $ | XREAD BLOCK 0 STREAMS a > | XREADGROUP GROUP g c BLOCK 0 STREAMS a > | XREADGROUP GROUP g c BLOCK 0 STREAMS a $
WAIT | WAIT x 0 | WAIT 0 x | WAIT 0 -1 | WAIT 0 0 | WAIT 0 100 | WAIT 1 -1
RPUSH a 1 2 | ZADD z 1 m | SET s text | XADD t 1-1 f v | XGROUP CREATE t g 0
BLPOP s 0 | BLPOP none s 0 | BLPOP s x | BLMOVE s a LEFT LEFT 0 | BLMOVE a s LEFT LEFT 0 | BLMOVE none s LEFT LEFT x | BLMPOP 0 2 none s LEFT | BZPOPMIN a 0 | BZPOPMIN none a 0 | BZMPOP 0 1 a MIN | XREAD BLOCK 0 STREAMS a $ | XREADGROUP GROUP g c BLOCK 0 STREAMS a >
BLPOP none a 0 | BLMPOP 0 1 a RIGHT COUNT 5 | BZPOPMAX none z 0 | XREADGROUP GROUP g c BLOCK 0 STREAMS t > | XREADGROUP GROUP g c BLOCK 0 STREAMS t 0 | XREADGROUP GROUP g d BLOCK 0 STREAMS t 0 | XREAD BLOCK 0 COUNT 1 STREAMS t 0
`
  .trim()
  .split(/ \| |\n/)
  .map((line) => `${helper} ${line}`)
  .concat([
    `${helper} MULTI | BLPOP none 0 | BRPOP none 1 | BLMOVE none b LEFT LEFT 0 | BRPOPLPUSH none b 0 | BLMPOP 0 1 none LEFT`,
    `${helper} MULTI | BZPOPMIN none 0 | BZPOPMAX none 0 | BZMPOP 0 1 none MIN | XREAD BLOCK 0 STREAMS t $ | XREADGROUP GROUP g c BLOCK 0 STREAMS t > | WAIT 1 0`,
    ...[
      'BLPOP none 60',
      'BLMOVE none b LEFT LEFT 60',
      'BZPOPMIN none 60',
      'BZMPOP 60 1 none MIN',
      'XREAD BLOCK 60000 STREAMS t $',
    ].map((line, at) => `${connections[at]} ${line}`),
    ...connections.map((name) => `unblock ${name} TIMEOUT`),
    ...[
      'BRPOPLPUSH none b 60',
      'BLMPOP 60 1 none LEFT',
      'XREADGROUP GROUP g c BLOCK 60000 STREAMS t >',
      'WAIT 1 60000',
      'WAIT 1 60000',
    ].map((line, at) => `${connections[at]} ${line}`),
    ...connections.slice(0, 4).map((name) => `unblock ${name} TIMEOUT`),
    'unblock c5 ERROR',
  ])
