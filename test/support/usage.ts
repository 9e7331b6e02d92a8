/**
 * Random words for a command, made from how the reference writes its arguments: `SET key value [NX | XX] [EX seconds]`.
 * `[…]` may be left out, `<…>` may not, `|` separates alternatives, a group that ends in `…` may come several times,
 * and the number before such a group says how often it comes.
 */

export type Usage = Sequence | Choice | Optional | Repeated | Word

interface Sequence {
  readonly kind: 'sequence'
  readonly parts: readonly Usage[]
}
interface Choice {
  readonly kind: 'choice'
  readonly parts: readonly Usage[]
}
interface Optional {
  readonly kind: 'optional'
  readonly part: Usage
}
interface Repeated {
  readonly kind: 'repeated'
  readonly part: Usage
}
interface Word {
  readonly kind: 'word'
  readonly text: string
}

export function parseUsage(usage: string): Usage {
  const tokens = usage.match(/[[\]<>|…]|[^\s[\]<>|…]+/g) ?? []
  let at = 0
  const sequence = (end: string | undefined): Usage => {
    const alternatives: Usage[][] = [[]]
    let repeated = false
    while (at < tokens.length && tokens[at] !== end) {
      const token = tokens[at++]!
      const items = alternatives.at(-1)!
      if (token === '[') items.push({ kind: 'optional', part: sequence(']') })
      else if (token === '<') items.push(sequence('>'))
      else if (token === '…') repeated = true
      else if (token !== '|') items.push({ kind: 'word', text: token })
      else if (end !== undefined) alternatives.push([])
      // Outside of brackets an alternative is one word: `BEFORE | AFTER`.
      else items.push(either(items.pop()!, { kind: 'word', text: tokens[at++]! }))
    }
    at++
    const parts = alternatives.map((items): Usage => ({ kind: 'sequence', parts: items }))
    const whole: Usage = parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
    return repeated ? { kind: 'repeated', part: whole } : whole
  }
  return sequence(undefined)
}

function either(first: Usage, second: Usage): Usage {
  return { kind: 'choice', parts: first.kind === 'choice' ? [...first.parts, second] : [first, second] }
}

/** Draws a number below `count`; 0 is the simplest choice. */
export type Choose = (count: number) => number

/** Words for one part: `name` is how the usage calls it, and it stands on the words before. */
export type WordFor = (name: string, choose: Choose) => string

const counts = /^num(keys|fields|ids)$/

/** One way to write the command. */
export function writeCommand(usage: Usage, choose: Choose, wordFor: WordFor): string[] {
  const words: string[] = []
  /** How often the next repeated group comes in all, once a number has said so. */
  let promised: number | undefined
  const write = (part: Usage): void => {
    switch (part.kind) {
      case 'word':
        if (counts.test(part.text)) {
          promised = 1 + choose(3)
          // Seldom a promise that is not kept.
          words.push(String(choose(12) === 11 ? promised + 1 : promised))
        } else {
          words.push(/[a-z]/.test(part.text) ? wordFor(part.text, choose) : part.text)
        }
        return
      case 'sequence':
        for (const each of part.parts) write(each)
        return
      case 'choice':
        write(part.parts[choose(part.parts.length)]!)
        return
      case 'optional':
        writeOptional(part.part)
        return
      case 'repeated':
        write(part.part)
    }
  }
  const writeOptional = (part: Usage): void => {
    if (part.kind !== 'repeated') {
      if (choose(3) === 2) write(part)
      return
    }
    const times = promised === undefined ? choose(3) : promised - 1
    promised = undefined
    for (let count = 0; count < times; count++) write(part)
  }
  write(usage)
  return words
}
