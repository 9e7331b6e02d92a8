import { type Bytes, latin1, text } from '../../kernel/bytes.js'
import { type Arg, type ArgReader, flag, options, toFloat } from '../command/arguments.js'
import { replyError } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import { parseInt64 } from '../command/text.js'
import {
  type FieldValue,
  type Highlight,
  modifiers,
  type OrderBy,
  type QueryOptions,
  type ScoreFunction,
} from '../search/query-options.js'
import {
  type DataType,
  dataTypes,
  type FieldDefinition,
  type FieldType,
  fieldTypes,
  type IndexDefinition,
  isTextual,
  type Language,
  languages,
} from '../values/search-definition.js'

// Argument types of SEARCH.* commands. Error texts that the specification lacks are specific to this package.
// [search.md]

function refusal(text: string): ReplyError {
  return new ReplyError(`ERR ${text}`)
}

function shown(word: Bytes): string {
  return text(word.slice(0, 80) as Bytes)
}

/** Parses one of several keywords, in any case. */
function oneOf<T extends string>(known: readonly T[], word: Bytes, what: string): T {
  const found = known.find((one) => one === word.toUpperCase() || one === word.toLowerCase())
  if (found === undefined) throw refusal(`Unknown ${what}: ${shown(word)}`)
  return found
}

function whole(word: Bytes, least: number, most: number, refused: string): number {
  const value = parseInt64(word)
  if (value === undefined || value < least || value > most) throw refusal(refused)
  return Number(value)
}

// ---- SEARCH.CREATE ----------------------------------------------------------------------------------------------

export interface NewIndex {
  readonly definition: IndexDefinition
  readonly skipsScan: boolean
  readonly existsOk: boolean
}

/**
 * Maximum number of prefixes of an index. This is a limit of this package, not of the service. It exists because every
 * write is compared with every prefix.
 */
export const maxPrefixes = 256
export const maxFields = 1024

/** Parser for everything after the name. [search.md 1] */
export const newIndex: Arg<NewIndex> = {
  usage:
    'ON JSON|HASH|STRING PREFIX count prefix [prefix …] | ON STREAM key [LANGUAGE language] [SKIPINITIALSCAN] [EXISTSOK] SCHEMA field type [FAST] [NOSTEM] [NOTOKENIZE] [FROM source] […]',
  min: 6,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    let dataType: DataType | undefined
    let prefixes: Bytes[] | undefined
    let stream: Bytes | undefined
    let language: Language = 'english'
    let skipsScan = false
    let existsOk = false
    while (!from.takes('SCHEMA')) {
      if (from.takes('ON')) {
        dataType = oneOf(dataTypes, from.next(), 'data type')
        stream = dataType === 'STREAM' ? from.key('R') : undefined
      } else if (from.takes('PREFIX')) prefixes = readPrefixes(from)
      else if (from.takes('LANGUAGE')) language = oneOf(languages, from.next(), 'language')
      else if (from.takes('SKIPINITIALSCAN')) skipsScan = true
      else if (from.takes('EXISTSOK')) existsOk = true
      else throw replyError('syntax')
    }
    // [search.md 15] A STREAM index has a key instead of prefixes.
    if (stream !== undefined && prefixes !== undefined) throw replyError('syntax')
    prefixes ??= stream === undefined ? undefined : [stream]
    if (dataType === undefined || prefixes === undefined) throw replyError('syntax')
    return { definition: { dataType, prefixes, language, fields: readSchema(from) }, skipsScan, existsOk }
  },
}

function readPrefixes(from: ArgReader): Bytes[] {
  const count = whole(from.next(), 1, maxPrefixes, `PREFIX takes between 1 and ${maxPrefixes} prefixes`)
  const prefixes: Bytes[] = []
  for (let left = count; left > 0; left--) prefixes.push(from.next())
  for (const [at, prefix] of prefixes.entries()) {
    const other = prefixes.find((one, place) => place !== at && prefix.startsWith(one))
    if (other !== undefined) throw refusal(`Prefixes '${shown(other)}' and '${shown(prefix)}' overlap`)
  }
  return prefixes
}

function readSchema(from: ArgReader): FieldDefinition[] {
  const fields = new Map<Bytes, FieldDefinition>()
  while (from.left > 0) {
    const field = readField(from)
    if (fields.has(field.path)) throw refusal(`Field '${shown(field.path)}' is declared twice`)
    fields.set(field.path, field)
    if (fields.size > maxFields) throw refusal(`A schema has at most ${maxFields} fields`)
  }
  if (fields.size === 0) throw replyError('syntax')
  return [...fields.values()]
}

function readField(from: ArgReader): FieldDefinition {
  const path = from.next()
  // In a filter, a name that begins with `$` is an operator.
  if (path === '' || path.startsWith('$')) throw refusal(`'${shown(path)}' cannot be the name of a field`)
  const type = oneOf(fieldTypes, from.next(), 'field type')
  const field = { path, type, fast: false, noStem: false, noTokenize: false, from: undefined as Bytes | undefined }
  for (;;) {
    if (from.takes('FAST')) field.fast = allowed('FAST', field, canBeFast)
    else if (from.takes('NOSTEM')) field.noStem = allowed('NOSTEM', field, isTextual)
    else if (from.takes('NOTOKENIZE')) field.noTokenize = allowed('NOTOKENIZE', field, isTextual)
    else if (from.takes('FROM')) field.from = from.next()
    else return field
  }
}

function allowed(option: string, { path, type }: FieldDefinition, accepts: (type: FieldType) => boolean): true {
  if (accepts(type)) return true
  throw refusal(`Option ${option} is not supported for field '${shown(path)}' of type ${type}`)
}

/** Returns whether fields of this type can be FAST. For KEYWORD fields, a policy decides later. */
function canBeFast(type: FieldType): boolean {
  return !isTextual(type) && type !== 'FACET'
}

// ---- SEARCH.QUERY -----------------------------------------------------------------------------------------------

export const maxRows = 1000
export const furthest = 10_000

const limit: Arg<number> = {
  usage: 'n',
  min: 1,
  max: 1,
  // [search.md 7: the error text says "less than 1000", although 1000 is allowed]
  read: (from) => whole(from.next(), 1, maxRows, 'limit should be a positive number less than 1000'),
}

const offset: Arg<number> = {
  usage: 'n',
  min: 1,
  max: 1,
  read: (from) => whole(from.next(), 0, furthest, `offset should be a number between 0 and ${furthest}`),
}

const orderBy: Arg<OrderBy> = {
  usage: 'field [ASC|DESC]',
  min: 1,
  max: 2,
  read(from) {
    const field = from.next()
    if (from.takes('ASC')) return { field, descending: false }
    from.takes('DESC')
    return { field, descending: true }
  },
}

function names(least: number): Arg<Bytes[]> {
  return {
    usage: 'n field [field …]',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    read(from) {
      const count = whole(
        from.next(),
        least,
        maxFields,
        `the number of fields should be between ${least} and ${maxFields}`,
      )
      const found: Bytes[] = []
      for (let left = count; left > 0; left--) found.push(from.next())
      return found
    },
  }
}

const highlight: Arg<Highlight> = {
  usage: 'FIELDS n field [field …] [TAGS open close]',
  min: 2,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    if (!from.takes('FIELDS')) throw replyError('syntax')
    const fields = names(0).read(from)
    if (!from.takes('TAGS')) return { fields, open: latin1('<em>'), close: latin1('</em>') }
    return { fields, open: from.next(), close: from.next() }
  },
}

const scoreFunction: Arg<ScoreFunction> = {
  usage:
    '[SCOREMODE SUM|MULTIPLY|REPLACE] [COMBINEMODE SUM|MULTIPLY] FIELDVALUE field [MODIFIER modifier] [FACTOR factor] [MISSING value] [FIELDVALUE …]',
  min: 2,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const values: FieldValue[] = []
    let scoreMode: ScoreFunction['scoreMode']
    let combineMode: ScoreFunction['combineMode']
    for (;;) {
      if (from.takes('SCOREMODE')) scoreMode = oneOf(['SUM', 'MULTIPLY', 'REPLACE'] as const, from.next(), 'score mode')
      else if (from.takes('COMBINEMODE')) combineMode = oneOf(['SUM', 'MULTIPLY'] as const, from.next(), 'combine mode')
      else if (from.takes('FIELDVALUE')) values.push(fieldValue(from))
      else break
      if (values.length > maxFields) throw refusal(`SCOREFUNC takes at most ${maxFields} fields`)
    }
    if (values.length === 0) throw replyError('syntax')
    return { values, scoreMode, combineMode }
  },
}

function fieldValue(from: ArgReader): FieldValue {
  const value: FieldValue = { field: from.next(), modifier: 'NONE', factor: 1, missing: 0 }
  for (;;) {
    if (from.takes('MODIFIER')) value.modifier = oneOf(modifiers, from.next(), 'modifier')
    else if (from.takes('FACTOR')) value.factor = toFloat(from.next())
    else if (from.takes('MISSING')) value.missing = toFloat(from.next())
    else return value
  }
}

const anyOptions = options({
  limit,
  offset,
  orderby: orderBy,
  select: names(1),
  nocontent: flag,
  highlight,
  scorefunc: scoreFunction,
})

export const queryOptions: Arg<QueryOptions> = {
  ...anyOptions,
  read(from) {
    const given = anyOptions.read(from) as QueryOptions
    if (given.nocontent && (given.select !== undefined || given.highlight !== undefined))
      throw refusal('NOCONTENT cannot be combined with SELECT or HIGHLIGHT')
    if (given.orderby !== undefined && given.scorefunc !== undefined)
      throw refusal('SCOREFUNC cannot be combined with ORDERBY')
    return given
  },
}

// ---- SEARCH.LISTINDEXES -----------------------------------------------------------------------------------------

const count: Arg<number> = {
  usage: 'n',
  min: 1,
  max: 1,
  read: (from) => whole(from.next(), 0, Number.MAX_SAFE_INTEGER, 'value is out of range, must be positive'),
}

const pattern: Arg<Bytes> = { usage: 'glob', min: 1, max: 1, read: (from) => from.next() }

export const listOptions: Arg<{ match?: Bytes; limit?: number; offset?: number }> = options({
  match: pattern,
  limit: count,
  offset: count,
})
