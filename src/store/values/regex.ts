/**
 * Regular expressions that are matched in linear time: the pattern becomes a set of states that advance together over
 * the text, so no pattern can block the process. `compileRegex()` reads the syntax of the Rust and Go libraries for
 * JSON paths and searches. `posix-regex.ts` reads the POSIX syntax for arrays.
 */
export interface Regex {
  /** Returns whether the pattern matches anywhere in the text; `spend` receives the units of work of each step. */
  test(text: string, spend: (steps: number) => void): boolean
}

/**
 * Compiles a pattern of the Rust and Go libraries, which have neither back-references nor look-around. Returns
 * `undefined` if the pattern is invalid, very long, or would expand to more than a few thousand states.
 */
export function compileRegex(pattern: string): Regex | undefined {
  if (pattern.length > maxPattern) return undefined
  try {
    const matcher = new PatternMatcher(new PatternReader(pattern).read())
    return { test: (text, spend) => matcher.test(Array.from(text, codeOf), spend) }
  } catch (error) {
    if (error instanceof PatternError) return undefined
    throw error
  }
}

/** Error for an invalid pattern. Its message is the reason. */
export class PatternError extends Error {}

export type CharTest = (char: number) => boolean
type Assertion =
  | 'text-start'
  | 'text-end'
  | 'line-start'
  | 'line-end'
  | 'word-edge'
  | 'no-word-edge'
  | 'ascii-word-edge'
  | 'no-ascii-word-edge'
  | 'ascii-word-start'
  | 'ascii-word-end'

/** Parsed pattern, independent of its syntax. */
export type RegexNode =
  | { kind: 'empty' }
  | { kind: 'char'; test: CharTest }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; parts: RegexNode[] }
  | { kind: 'choice'; options: RegexNode[] }
  | { kind: 'repeat'; part: RegexNode; least: number; most: number }

type Instruction =
  | { op: 'char'; test: CharTest }
  | { op: 'assert'; assertion: Assertion }
  | Split
  | { op: 'jump'; to: number }
  | { op: 'match' }
type Split = { op: 'split'; a: number; b: number }

export const maxInstructions = 5000
export const maxRepeat = 1000
export const maxNesting = 100
/** Maximum length of a pattern. Longer patterns would need seconds of parsing, and then have too many states. */
export const maxPattern = 65_536

interface Flags {
  ignoreCase: boolean
  multiline: boolean
  dotAll: boolean
  extended: boolean
}

class PatternReader {
  readonly #chars: readonly string[]
  #at = 0
  #nesting = 0
  #flags: Flags = { ignoreCase: false, multiline: false, dotAll: false, extended: false }

  constructor(pattern: string) {
    this.#chars = Array.from(pattern)
  }

  read(): RegexNode {
    const pattern = this.#choice()
    if (this.#at < this.#chars.length) throw new PatternError('unmatched )')
    return pattern
  }

  #choice(): RegexNode {
    if (++this.#nesting > maxNesting) throw new PatternError('too deeply nested')
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    this.#nesting--
    return options.length === 1 ? (options[0] as RegexNode) : { kind: 'choice', options }
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = []
    for (;;) {
      if (this.#flags.extended) this.#skipExtended()
      const char = this.#chars[this.#at]
      if (char === undefined || char === '|' || char === ')') return { kind: 'sequence', parts }
      parts.push(this.#quantified(this.#atom()))
    }
  }

  /** Skips blanks and comments, which have no meaning under the flag `x`. */
  #skipExtended(): void {
    for (;;) {
      const char = this.#chars[this.#at]
      if (char === '#') while (this.#at < this.#chars.length && this.#chars[this.#at] !== '\n') this.#at++
      else if (char !== undefined && /\s/.test(char)) this.#at++
      else return
    }
  }

  #quantified(part: RegexNode): RegexNode {
    let repeated = part
    for (let count = 0; ; count++) {
      const bounds = this.#quantifier()
      if (!bounds) return repeated
      if (count > maxNesting) throw new PatternError('too deeply nested')
      // A lazy quantifier is ignored, because it matches the same texts.
      this.#take('?')
      repeated = { kind: 'repeat', part: repeated, least: bounds[0], most: bounds[1] }
    }
  }

  #quantifier(): [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    if (!this.#take('{')) return undefined
    const least = this.#repeatCount()
    let most = least
    if (this.#take(',')) most = this.#chars[this.#at] === '}' ? Number.POSITIVE_INFINITY : this.#repeatCount()
    this.#expect('}')
    if (most < least) throw new PatternError('empty repetition')
    return [least, most]
  }

  #repeatCount(): number {
    let digits = ''
    while (/^\d$/.test(this.#chars[this.#at] ?? '')) digits += this.#chars[this.#at++]
    if (digits === '' || Number(digits) > maxRepeat) throw new PatternError('bad repetition')
    return Number(digits)
  }

  #atom(): RegexNode {
    const char = this.#next()
    if (char === '(') return this.#group()
    if (char === '[') return this.#char(this.#class())
    if (char === '.') return this.#char(this.#flags.dotAll ? () => true : (code) => code !== 0x0a)
    if (char === '^') return { kind: 'assert', assertion: this.#flags.multiline ? 'line-start' : 'text-start' }
    if (char === '$') return { kind: 'assert', assertion: this.#flags.multiline ? 'line-end' : 'text-end' }
    if (char === '*' || char === '+' || char === '?' || char === '{') throw new PatternError('nothing to repeat')
    if (char !== '\\') return this.#char(equals(char.codePointAt(0) as number))
    const assertion = assertionEscapes.get(this.#chars[this.#at] ?? '')
    if (!assertion) return this.#char(this.#escape().test)
    this.#at++
    return { kind: 'assert', assertion }
  }

  #char(test: CharTest): RegexNode {
    return { kind: 'char', test: this.#flags.ignoreCase ? anyCase(test) : test }
  }

  #group(): RegexNode {
    const outer = this.#flags
    if (this.#take('?')) {
      if (this.#take('P') || this.#chars[this.#at] === '<') this.#groupName()
      else if (this.#groupFlags() === 'rest') return { kind: 'empty' }
    }
    const pattern = this.#choice()
    this.#expect(')')
    this.#flags = outer
    return pattern
  }

  #groupName(): void {
    this.#expect('<')
    let name = ''
    while (this.#at < this.#chars.length && this.#chars[this.#at] !== '>') name += this.#next()
    this.#expect('>')
    if (!/^[A-Za-z_]\w*$/.test(name)) throw new PatternError('bad group name')
  }

  /** Parses flags. `(?i)` applies to the rest of the enclosing group, `(?i:…)` and `(?:…)` to a new group. */
  #groupFlags(): 'rest' | 'group' {
    const flags = { ...this.#flags }
    let on = true
    for (;;) {
      const char = this.#next()
      if (char === '-') on = false
      else if (char === 'i') flags.ignoreCase = on
      else if (char === 'm') flags.multiline = on
      else if (char === 's') flags.dotAll = on
      else if (char === 'x') flags.extended = on
      else if (char === ')' || char === ':') {
        this.#flags = flags
        return char === ')' ? 'rest' : 'group'
      } else if (char !== 'u' && char !== 'U') throw new PatternError('unknown flag')
    }
  }

  #class(): CharTest {
    const negated = this.#take('^')
    const tests: CharTest[] = []
    for (let first = true; first || this.#chars[this.#at] !== ']'; first = false) tests.push(this.#classItem())
    this.#expect(']')
    const any: CharTest = (code) => tests.some((test) => test(code))
    if (!negated) return any
    const cased = this.#flags.ignoreCase ? anyCase(any) : any
    return (code) => !cased(code)
  }

  #classItem(): CharTest {
    const char = this.#next()
    if (char === '[' && this.#chars[this.#at] === ':') return this.#posixClass()
    const low = char === '\\' ? this.#escape() : { test: equals(codeOf(char)), code: codeOf(char) }
    const isRange = this.#chars[this.#at] === '-' && this.#chars[this.#at + 1] !== ']'
    if (!isRange || low.code === undefined) return low.test
    this.#at++
    const end = this.#next()
    const high = end === '\\' ? this.#escape().code : codeOf(end)
    if (high === undefined || high < low.code) throw new PatternError('bad range')
    const least = low.code
    return (code) => code >= least && code <= high
  }

  #posixClass(): CharTest {
    const end = this.#chars.indexOf(']', this.#at)
    const name = this.#chars.slice(this.#at, end + 1).join('')
    const pattern = posixClasses.get(name)
    if (!pattern) throw new PatternError('unknown class')
    this.#at = end + 1
    return charTest(pattern)
  }

  /** Parses an escape: one character (with its code) or a class of characters. */
  #escape(): { test: CharTest; code?: number } {
    const char = this.#next()
    const named = classEscapes.get(char)
    if (named) return { test: named }
    if (char === 'p' || char === 'P') return { test: this.#property(char) }
    const code =
      controlEscapes.get(char) ?? (char === 'x' || char === 'u' || char === 'U' ? this.#hex(char) : undefined)
    if (code !== undefined) return { test: equals(code), code }
    if (/^[0-9A-Za-z]$/.test(char)) throw new PatternError('unknown escape')
    return { test: equals(codeOf(char)), code: codeOf(char) }
  }

  #property(letter: 'p' | 'P'): CharTest {
    const name = this.#next()
    const end = name === '{' ? this.#chars.indexOf('}', this.#at) : this.#at
    const property = name === '{' ? this.#chars.slice(this.#at, end).join('') : name
    if (name === '{') this.#at = end + 1
    for (const wording of [property, `Script=${property}`]) {
      try {
        return charTest(new RegExp(`^\\${letter}{${wording}}$`, 'u'))
      } catch {}
    }
    throw new PatternError('unknown property')
  }

  #hex(letter: string): number {
    let digits = ''
    if (this.#take('{')) {
      while (this.#chars[this.#at] !== '}') digits += this.#next()
      this.#expect('}')
    } else {
      const length = letter === 'x' ? 2 : letter === 'u' ? 4 : 8
      for (let count = 0; count < length; count++) digits += this.#next()
    }
    const code = /^[0-9a-fA-F]{1,8}$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    if (!(code <= 0x10ffff)) throw new PatternError('bad code point')
    return code
  }

  #next(): string {
    const char = this.#chars[this.#at++]
    if (char === undefined) throw new PatternError('unexpected end')
    return char
  }

  #take(char: string): boolean {
    if (this.#chars[this.#at] !== char) return false
    this.#at++
    return true
  }

  #expect(char: string): void {
    if (!this.#take(char)) throw new PatternError(`expected ${char}`)
  }
}

function codeOf(char: string): number {
  return char.codePointAt(0) as number
}

export function equals(code: number): CharTest {
  return (other) => other === code
}

function charTest(pattern: RegExp): CharTest {
  return (code) => pattern.test(String.fromCodePoint(code))
}

function anyCase(test: CharTest): CharTest {
  return (code) => {
    if (test(code)) return true
    const char = String.fromCodePoint(code)
    return test(codeOf(char.toLowerCase())) || test(codeOf(char.toUpperCase()))
  }
}

/** Returns whether a byte is an ASCII letter, a digit or an underscore. */
export const isAsciiWord: CharTest = (byte) =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte === 0x5f
const isWord: CharTest = charTest(/^[\p{L}\p{M}\p{N}\p{Pc}]$/u)
const isDigit: CharTest = charTest(/^\p{Nd}$/u)
const isSpace: CharTest = charTest(/^\s$/u)

const classEscapes: ReadonlyMap<string, CharTest> = new Map<string, CharTest>([
  ['d', isDigit],
  ['D', (code) => !isDigit(code)],
  ['w', isWord],
  ['W', (code) => !isWord(code)],
  ['s', isSpace],
  ['S', (code) => !isSpace(code)],
])

const controlEscapes: ReadonlyMap<string, number> = new Map([
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['f', 0x0c],
  ['v', 0x0b],
  ['a', 0x07],
  ['0', 0x00],
])

const assertionEscapes: ReadonlyMap<string, Assertion> = new Map<string, Assertion>([
  ['b', 'word-edge'],
  ['B', 'no-word-edge'],
  ['A', 'text-start'],
  ['z', 'text-end'],
])

const posixClasses: ReadonlyMap<string, RegExp> = new Map([
  [':alpha:]', /^[A-Za-z]$/],
  [':digit:]', /^[0-9]$/],
  [':alnum:]', /^[A-Za-z0-9]$/],
  [':upper:]', /^[A-Z]$/],
  [':lower:]', /^[a-z]$/],
  [':space:]', /^[\t\n\v\f\r ]$/],
  [':blank:]', /^[\t ]$/],
  [':punct:]', /^[!-/:-@[-`{-~]$/],
  [':xdigit:]', /^[0-9A-Fa-f]$/],
  [':word:]', /^\w$/],
])

/** Converts the pattern tree to a program, in which a repetition is expanded to its maximum count. */
class Emitter {
  readonly program: Instruction[] = []
  #parts = 0

  emit(pattern: RegexNode): void {
    // The parts are also counted, because a few nested `(){1000}` expand to many parts without any instruction.
    if (++this.#parts > maxInstructions || this.program.length > maxInstructions) throw new PatternError('too large')
    if (pattern.kind === 'char') this.program.push({ op: 'char', test: pattern.test })
    else if (pattern.kind === 'assert') this.program.push({ op: 'assert', assertion: pattern.assertion })
    else if (pattern.kind === 'sequence') for (const part of pattern.parts) this.emit(part)
    else if (pattern.kind === 'choice') this.#choice(pattern.options)
    else if (pattern.kind === 'repeat') this.#repeat(pattern.part, pattern.least, pattern.most)
  }

  #choice(options: readonly RegexNode[]): void {
    const exits: { op: 'jump'; to: number }[] = []
    for (const option of options.slice(0, -1)) {
      const split = this.#split()
      this.emit(option)
      const exit = { op: 'jump' as const, to: 0 }
      this.program.push(exit)
      exits.push(exit)
      split.b = this.program.length
    }
    this.emit(options.at(-1) as RegexNode)
    for (const exit of exits) exit.to = this.program.length
  }

  #repeat(part: RegexNode, least: number, most: number): void {
    for (let count = 0; count < least; count++) this.emit(part)
    if (most === Number.POSITIVE_INFINITY) {
      const start = this.program.length
      const split = this.#split()
      this.emit(part)
      this.program.push({ op: 'jump', to: start })
      split.b = this.program.length
      return
    }
    const splits: Split[] = []
    for (let count = least; count < most; count++) {
      splits.push(this.#split())
      this.emit(part)
    }
    for (const split of splits) split.b = this.program.length
  }

  /** Emits a branch with two targets: the next instruction, and one that the caller sets later. */
  #split(): Split {
    const split: Split = { op: 'split', a: this.program.length + 1, b: 0 }
    this.program.push(split)
    return split
  }
}

/**
 * Last position at which each state was entered. All tested texts share one array, because an array for each text would
 * use most of the memory.
 */
class Entered {
  readonly at: Int32Array
  #next = 0

  constructor(states: number) {
    this.at = new Int32Array(states).fill(-1)
  }

  /**
   * Begins a new text and returns the number of its first position. Numbers are not reused, so that the array is not
   * cleared for each text.
   * @param length the number of characters of the text
   */
  begin(length: number): number {
    if (this.#next > 2 ** 30) {
      this.at.fill(-1)
      this.#next = 0
    }
    const first = this.#next
    this.#next += length + 1
    return first
  }
}

/** Matches texts against one pattern. */
export class PatternMatcher {
  readonly #program: readonly Instruction[]
  readonly #entered: Entered

  /** @throws PatternError when the pattern would expand to too many states */
  constructor(pattern: RegexNode) {
    const emitter = new Emitter()
    emitter.emit(pattern)
    this.#program = [...emitter.program, { op: 'match' }]
    this.#entered = new Entered(this.#program.length)
  }

  /** Number of states. */
  get size(): number {
    return this.#program.length
  }

  /**
   * Returns whether the pattern matches anywhere in the text.
   * @param chars the code points or bytes of the text
   */
  test(chars: ArrayLike<number>, spend: (steps: number) => void): boolean {
    return new Simulation(this.#program, chars, this.#entered).matches(spend)
  }
}

class Simulation {
  readonly #program: readonly Instruction[]
  readonly #chars: ArrayLike<number>
  readonly #enteredAt: Int32Array
  readonly #first: number
  #steps = 0

  constructor(program: readonly Instruction[], chars: ArrayLike<number>, entered: Entered) {
    this.#program = program
    this.#chars = chars
    this.#enteredAt = entered.at
    this.#first = entered.begin(this.#chars.length)
  }

  matches(spend: (steps: number) => void): boolean {
    let active: number[] = []
    for (let at = 0; at <= this.#chars.length; at++) {
      this.#steps = 1
      const reached: number[] = []
      // A match may begin at every position, so the first state is added at each one.
      active.push(0)
      for (const state of active) if (this.#follow(state, at, reached)) return true
      spend(this.#steps)
      active = this.#advance(reached, this.#chars[at])
    }
    return false
  }

  /** Collects the states that need another character. Returns true if the match state is reachable without one. */
  #follow(from: number, at: number, reached: number[]): boolean {
    const open = [from]
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (this.#enteredAt[state] === this.#first + at) continue
      this.#enteredAt[state] = this.#first + at
      this.#steps++
      const instruction = this.#program[state] as Instruction
      if (instruction.op === 'match') return true
      if (instruction.op === 'char') reached.push(state)
      else if (instruction.op === 'jump') open.push(instruction.to)
      else if (instruction.op === 'split') open.push(instruction.b, instruction.a)
      else if (holds(instruction.assertion, this.#chars, at)) open.push(state + 1)
    }
    return false
  }

  #advance(reached: readonly number[], char: number | undefined): number[] {
    const active: number[] = []
    if (char === undefined) return active
    for (const state of reached) {
      const instruction = this.#program[state] as Instruction
      if (instruction.op === 'char' && instruction.test(char)) active.push(state + 1)
    }
    return active
  }
}

function holds(assertion: Assertion, chars: ArrayLike<number>, at: number): boolean {
  if (assertion === 'text-start') return at === 0
  if (assertion === 'text-end') return at === chars.length
  if (assertion === 'line-start') return at === 0 || chars[at - 1] === 0x0a
  if (assertion === 'line-end') return at === chars.length || chars[at] === 0x0a
  const isPart = assertion === 'word-edge' || assertion === 'no-word-edge' ? isWord : isAsciiWord
  const before = at > 0 && isPart(chars[at - 1] as number)
  const after = at < chars.length && isPart(chars[at] as number)
  if (assertion === 'ascii-word-start') return !before && after
  if (assertion === 'ascii-word-end') return before && !after
  return (before !== after) === (assertion === 'word-edge' || assertion === 'ascii-word-edge')
}
