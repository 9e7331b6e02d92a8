import { plural } from '../../kernel/plural.js'
import { exp, pow } from '../../kernel/portable-math.js'

/** Parsed expression for the delay before a retry. It is evaluated after every failed attempt. */
export interface RetryExpression {
  readonly text: string
  /**
   * Returns the delay before a retry in milliseconds. The result may be negative or not finite. Never throws. `retried`
   * is the number of earlier retries, so it is 0 for the first retry.
   */
  evaluate(retried: number): number
}

type Node = (retried: number) => number

/** Functions that an expression may call: number of arguments, and implementation. [queue.md 5.2] */
export const retryFunctions: Readonly<Record<string, readonly [arity: number, run: (x: number, y: number) => number]>> =
  {
    pow: [2, pow],
    sqrt: [1, Math.sqrt],
    abs: [1, Math.abs],
    exp: [1, exp],
    floor: [1, Math.floor],
    ceil: [1, Math.ceil],
    round: [1, Math.round],
    min: [2, Math.min],
    max: [2, Math.max],
  }

/**
 * Parses a retry-delay expression. Grammar: numbers, `retried`, `+ - * / %`, unary minus, parentheses and the names in
 * `retryFunctions`. Limits: `maxExpression` characters and `deepestExpression` levels, so that every accepted
 * expression can be evaluated.
 * @throws SyntaxError with the reason, for the text `invalid retry delay: <reason>`
 */
export function parseRetryExpression(text: string): RetryExpression {
  if (text.length > maxExpression) {
    throw new SyntaxError(`it has ${text.length} characters, but at most ${maxExpression} are allowed`)
  }
  const evaluate = new ExpressionReader(text).whole()
  return { text, evaluate }
}

/**
 * Maximum length of an expression in characters, and maximum nesting depth of parentheses, signs and function calls.
 * These are limits of this package.
 */
export const maxExpression = 1000
export const deepestExpression = 100

const token = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z_]\w*)|([-+*/%(),]))/iy

class ExpressionReader {
  readonly #tokens: string[] = []
  #at = 0
  #depth = 0

  constructor(text: string) {
    token.lastIndex = 0
    const end = text.trimEnd().length
    while (token.lastIndex < end) {
      const from = token.lastIndex
      const match = token.exec(text)
      if (match === null) throw new SyntaxError(`unexpected ${JSON.stringify(text.slice(from).trim()[0])}`)
      this.#tokens.push((match[1] ?? match[2] ?? match[3])!)
    }
  }

  whole(): Node {
    const node = this.#sum()
    const left = this.#tokens[this.#at]
    if (left !== undefined) throw new SyntaxError(`unexpected ${JSON.stringify(left)}`)
    return node
  }

  #sum(): Node {
    let left = this.#product()
    for (;;) {
      const first = left
      if (this.#take('+')) {
        const second = this.#product()
        left = (n) => first(n) + second(n)
      } else if (this.#take('-')) {
        const second = this.#product()
        left = (n) => first(n) - second(n)
      } else return left
    }
  }

  #product(): Node {
    let left = this.#factor()
    for (;;) {
      const first = left
      if (this.#take('*')) {
        const second = this.#factor()
        left = (n) => first(n) * second(n)
      } else if (this.#take('/')) {
        const second = this.#factor()
        left = (n) => first(n) / second(n)
      } else if (this.#take('%')) {
        const second = this.#factor()
        left = (n) => first(n) % second(n)
      } else return left
    }
  }

  #factor(): Node {
    if (++this.#depth > deepestExpression) {
      throw new SyntaxError(`it is nested deeper than ${deepestExpression} levels`)
    }
    try {
      if (this.#take('-')) {
        const inner = this.#factor()
        return (n) => -inner(n)
      }
      if (this.#take('+')) return this.#factor()
      if (this.#take('(')) {
        const inner = this.#sum()
        this.#expect(')')
        return inner
      }
      return this.#atom()
    } finally {
      this.#depth--
    }
  }

  #atom(): Node {
    const word = this.#tokens[this.#at++]
    if (word === undefined) throw new SyntaxError('unexpected end')
    if (/^[\d.]/.test(word)) {
      const value = Number(word)
      return () => value
    }
    if (word === 'retried') return (n) => n
    const known = Object.hasOwn(retryFunctions, word) ? retryFunctions[word] : undefined
    if (known !== undefined) return this.#call(word, known)
    throw new SyntaxError(
      /^\w/.test(word) ? `unknown name ${JSON.stringify(word)}` : `unexpected ${JSON.stringify(word)}`,
    )
  }

  #call(name: string, [arity, run]: readonly [number, (x: number, y: number) => number]): Node {
    this.#expect('(')
    const x = this.#sum()
    let y: Node = () => 0
    if (arity === 2) {
      if (!this.#take(',')) throw new SyntaxError(`${name}() takes 2 arguments`)
      y = this.#sum()
    }
    if (!this.#take(')')) throw new SyntaxError(`${name}() takes ${plural(arity, 'argument')}`)
    return (n) => run(x(n), y(n))
  }

  #take(sign: string): boolean {
    if (this.#tokens[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #expect(sign: string): void {
    if (this.#take(sign)) return
    const found = this.#tokens[this.#at]
    throw new SyntaxError(
      `expected ${JSON.stringify(sign)}, found ${found === undefined ? 'the end' : JSON.stringify(found)}`,
    )
  }
}
