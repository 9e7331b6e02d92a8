import { type Bytes, text, utf8 } from '../src/kernel/bytes.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import { isPlainObject } from './literal.js'

/** A way to write JSON: how it differs from others, in words, and the text. */
interface Spelling {
  readonly how: string
  readonly text: string
}

/** Longer bodies are only written in the usual ways: each one is hashed. */
const maxTried = 20_000
const longest = 1_000_000

/**
 * How the JSON in a body was written when something else was signed: by the same JSON in another spelling, whose bytes
 * are the signed ones. `undefined` when none of the usual ones is it.
 */
export function otherSpelling(body: Bytes, isSigned: (bytes: Bytes) => boolean): string | undefined {
  if (body.length > longest) return undefined
  const given = text(body)
  const parsed = parsedJson(given)
  if (parsed === undefined) return undefined
  for (const spelling of spellingsOf(parsed, body.length <= maxTried)) {
    if (spelling.text !== given && isSigned(utf8(spelling.text))) return spelling.how
  }
  return undefined
}

/** Whether parsing a body and writing it again with `JSON.stringify` gives other bytes; `undefined` for what is no JSON. */
export function changesWhenRewritten(body: Bytes): boolean | undefined {
  if (body.length > longest) return undefined
  const given = text(body)
  const parsed = parsedJson(given)
  return parsed === undefined ? undefined : JSON.stringify(parsed) !== given
}

const gaps: readonly (readonly [how: string, write: (value: unknown) => string])[] = [
  ['without white space', (value) => JSON.stringify(value)],
  ['with blanks after , and :', spaced],
  ...[2, 4, 1, 3].map((width) => {
    return [`indented by ${width}`, (value: unknown) => JSON.stringify(value, null, width)] as const
  }),
  ['indented by tabs', (value) => JSON.stringify(value, null, '\t')],
]

function* spellingsOf(parsed: unknown, all: boolean): Generator<Spelling> {
  for (const [how, write] of gaps) yield { how, text: write(parsed) }
  if (!all) return
  const sorted = withSortedKeys(parsed)
  for (const [how, write] of gaps) {
    const variants: Spelling[] = [
      { how, text: write(parsed) },
      { how: `${how}, its keys sorted`, text: write(sorted) },
    ]
    for (const one of variants) {
      yield one
      const ascii = one.text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      if (ascii !== one.text) yield { how: `${one.how}, its letters escaped`, text: ascii }
      for (const end of ['\n', '\r\n']) yield { how: `${one.how}, with a line break at its end`, text: one.text + end }
    }
  }
}

/** As Python and others write it: `{"a": 1, "b": [2, 3]}`. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (!isPlainObject(value)) return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`)
  return `{${fields.join(', ')}}`
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (!isPlainObject(value)) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, item]) => [name, withSortedKeys(item)]))
}
