import { hidden, type Redaction } from '../../../../src/report/redaction.js'
import { multiLine } from '../../../../src/report/safe-text.js'
import { isSecretGroup, isSecretNumber } from '../../../../src/secrets/secret-names.js'

/** Maximum characters of one text in a response, unless the whole text is requested. */
const maxOfText = 600
/** Maximum characters of a value in a pair, such as the value of a header. */
const maxOfPair = 120
/**
 * Number of characters after the shown text in which secrets are searched, too. Otherwise half of a secret could be
 * shown.
 */
const margin = 8_192

interface Showing {
  readonly redaction: Redaction
  /** Whether long texts are shown completely. */
  readonly whole: boolean
}

/**
 * Formats a response of the control API as text, with secrets redacted and long texts shortened. A list has one item
 * per line, and control characters are escaped.
 */
export function printable(value: unknown, showing: Showing): string {
  if (typeof value === 'string') return multiLine(showing.redaction.text(value))
  const shown = shownJson(value, '', showing)
  if (Array.isArray(shown)) return shown.length === 0 ? '(none)' : shown.map(oneLine).join('\n')
  if (typeof shown !== 'object' || shown === null) return oneLine(shown)
  const fields = Object.entries(shown)
  const [only] = fields
  // The result of an explanation is an object with a single text. Print only the text.
  if (fields.length === 1 && typeof only![1] === 'string') return multiLine(only![1])
  if (fields.length === 0) return ''
  return fields.map(([name, field]) => fieldText(name, field)).join('\n')
}

function fieldText(name: string, field: unknown): string {
  const title = multiLine(name)
  if (Array.isArray(field) && field.length > 0 && field.every((item) => typeof item === 'object'))
    return `${title}:\n${field.map((item) => `  ${oneLine(item)}`).join('\n')}`
  if (typeof field === 'string' && field.includes('\n')) return `${title}:\n${multiLine(field)}`
  return `${title}: ${typeof field === 'string' ? multiLine(field) : oneLine(field)}`
}

function oneLine(value: unknown): string {
  return multiLine(JSON.stringify(value) ?? 'null')
}

function shownJson(value: unknown, name: string, showing: Showing): unknown {
  const { redaction } = showing
  const isSecret = name !== '' && redaction.isSecretName(name)
  if (typeof value === 'string') return isSecret ? hidden : shortened(value, showing)
  if (typeof value === 'number') return isSecretNumber(name) ? hidden : value
  if (typeof value !== 'object' || value === null) return value
  if (isSecret || isSecretGroup(name)) return hidden
  if (Array.isArray(value)) return shownList(value, name, showing)
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [shortened(key, showing), shownJson(field, key, showing)]),
  )
}

function shownList(list: readonly unknown[], name: string, showing: Showing): unknown[] {
  // Headers and hash fields are lists of pairs. Each pair is a name and a value.
  if (list.length > 0 && list.every(isPair))
    return list.map(([key, value]) => [
      shortened(key, showing),
      shortened(showing.redaction.header(key, value), showing, maxOfPair),
    ])
  if (name === 'argv' && list.every((word) => typeof word === 'string'))
    return showing.redaction.words(list).map((word) => shortened(word, showing))
  // In other lists, such as the fields of a stream entry, names and values alternate. The value after the name of a
  // secret is a secret.
  return list.map((item, index) => {
    const before = list[index - 1]
    const isSecret = typeof before === 'string' && typeof item === 'string' && showing.redaction.isSecretName(before)
    return isSecret ? hidden : shownJson(item, '', showing)
  })
}

function isPair(item: unknown): item is readonly [string, string] {
  return Array.isArray(item) && item.length === 2 && typeof item[0] === 'string' && typeof item[1] === 'string'
}

function shortened(given: string, { redaction, whole }: Showing, most = maxOfText): string {
  if (whole || given.length <= most) return redaction.text(given)
  const start = redaction.text(given.slice(0, most + margin))
  return `${start.slice(0, most)}… (${given.length} chars)`
}
