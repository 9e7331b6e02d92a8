/** The parts of a command's syntax: `ARSCAN key start end [LIMIT limit]`. */
export interface CommandSyntax {
  /** Arguments without a keyword: `key start end`. */
  readonly positional: string
  /** Values of each option, by its keywords: `LIMIT` → `limit`, `PROFILE` → `BALANCED | FAST`. */
  readonly options: ReadonlyMap<string, string>
}

const keyword = /^[A-Z][A-Z0-9]*(?:[._-][A-Z0-9]+)*$/
const closing: Readonly<Record<string, string>> = { '[': ']', '<': '>', '(': ')', '{': '}' }

type Part = string | Group

interface Group {
  readonly open: string
  readonly alternatives: readonly (readonly Part[])[]
}

/**
 * Parses a syntax in the usual notation: `[optional]`, `<a | b>`, `a|b`, `...`. Words in upper case are the keywords of
 * options, and the words behind them are their values.
 * @param text the syntax without the name of the command
 */
export function parseSyntax(text: string): CommandSyntax {
  const tokens = text.match(/[[\]<>(){}]|[^\s[\]<>(){}]+/g) ?? []
  const options = new Map<string, string>()
  const positional: string[] = []
  const group = parseGroup(tokens, { at: 0 }, '', 0)
  for (const sequence of group.alternatives) {
    const rest = readSequence(sequence, options)
    if (rest !== '') positional.push(rest)
  }
  return { positional: positional.join(' | '), options }
}

function parseGroup(tokens: readonly string[], place: { at: number }, open: string, depth: number): Group {
  const alternatives: Part[][] = [[]]
  while (place.at < tokens.length) {
    const token = tokens[place.at++]!
    if (token === closing[open]) break
    if (token === '|') alternatives.push([])
    else if (Object.hasOwn(closing, token) && depth < 20)
      alternatives.at(-1)!.push(parseGroup(tokens, place, token, depth + 1))
    else alternatives.at(-1)!.push(token)
  }
  return { open, alternatives: alternatives.filter((parts) => parts.length > 0) }
}

/** Adds the options of a sequence. Returns what belongs to no option. */
function readSequence(parts: readonly Part[], options: Map<string, string>): string {
  const outside: string[] = []
  let words: string[] = []
  let values: string[] = []
  const end = (): void => {
    if (words.length > 0) {
      const name = words.join(' ')
      options.set(name, [options.get(name) ?? '', values.join(' ')].filter((one) => one !== '').join(' | '))
    }
    words = []
    values = []
  }
  for (const part of parts) {
    if (typeof part !== 'string') {
      const choice = words.length > 0 && values.length === 0 ? choiceOf(part) : undefined
      if (choice !== undefined) values.push(choice)
      else {
        const rest = part.alternatives.map((one) => readSequence(one, options)).filter((one) => one !== '')
        const end = part.open === '' ? '' : (closing[part.open] ?? '')
        if (rest.length > 0) (words.length > 0 ? values : outside).push(`${part.open}${rest.join(' | ')}${end}`)
      }
      continue
    }
    const choices = part.split('|').filter((one) => one !== '')
    const areKeywords = choices.length > 0 && choices.every((one) => keyword.test(one))
    if (!areKeywords) (words.length > 0 ? values : outside).push(part)
    else if (choices.length > 1 && words.length > 0 && values.length === 0) values.push(sortedChoices(choices))
    else if (choices.length > 1) {
      end()
      for (const one of choices) if (!options.has(one)) options.set(one, '')
    } else {
      // A keyword directly behind another one belongs to it: `ON STREAM key`.
      if (values.length > 0) end()
      words.push(part)
    }
  }
  end()
  return outside.join(' ')
}

/** Returns the values of a group that contains only keywords without values: `<FAST | BALANCED>`. */
function choiceOf({ open, alternatives }: Group): string | undefined {
  if (open === '[' || alternatives.length < 2) return undefined
  const words = alternatives.map((parts) => (parts.length === 1 ? parts[0]! : undefined))
  return words.every((word) => typeof word === 'string' && keyword.test(word)) ? sortedChoices(words) : undefined
}

/** The order of alternatives means nothing. */
export function sortedChoices(choices: readonly unknown[]): string {
  return choices.map(String).sort().join(' | ')
}

/** Returns the keywords with which a text begins: `LIMIT` of `LIMIT count`, and the rest. */
export function keywordsOf(text: string): { readonly keywords: string; readonly rest: string } {
  const words = text.trim().split(/\s+/)
  const end = words.findIndex((word) => !keyword.test(word))
  const count = end === -1 ? words.length : end
  return { keywords: words.slice(0, count).join(' '), rest: words.slice(count).join(' ') }
}
