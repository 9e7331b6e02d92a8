import { type Bytes, text, utf8 } from '../src/kernel/bytes.js'
import { parsedJson } from '../src/kernel/parsed-json.js'
import { isPlainObject } from './literal.js'

/** One way to write a JSON value, with a description: `indented by 2`. */
interface Spelling {
  readonly how: string
  readonly text: string
}

/** Maximum length of a body for which all variants are tried. Each variant is hashed, which takes time. */
const maxTried = 20_000
const longest = 1_000_000

/**
 * Returns how the JSON in a body was formatted when it was signed: `indented by 2`. Returns `undefined` if no usual
 * format of this JSON has the signed hash.
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

/**
 * Returns whether the bytes of a body change if its JSON is parsed and serialized again. Returns `undefined` if the
 * body is not JSON.
 */
export function changesWhenRewritten(body: Bytes): boolean | undefined {
  if (body.length > longest) return undefined
  const given = text(body)
  const parsed = parsedJson(given)
  return parsed === undefined ? undefined : JSON.stringify(parsed) !== given
}

const gaps: readonly (readonly [how: string, write: (value: unknown) => string])[] = [
  ['without white space', (value) => JSON.stringify(value)],
  ['with spaces after , and :', spaced],
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
      { how: `${how}, with sorted keys`, text: write(sorted) },
    ]
    for (const one of variants) {
      yield one
      const ascii = one.text.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
      if (ascii !== one.text) yield { how: `${one.how}, with escaped non-ASCII characters`, text: ascii }
      for (const end of ['\n', '\r\n']) yield { how: `${one.how}, with a line break at its end`, text: one.text + end }
    }
  }
}

/** Serializes JSON as Python does: `{"a": 1, "b": [2, 3]}`. */
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
