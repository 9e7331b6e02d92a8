import { type Bytes, latin1 } from '../../kernel/bytes.js'
import { type Arg, optional, word } from '../command/arguments.js'
import { invalidJsonPath, replyError } from '../command/errors.js'
import type { JsonNumber } from '../values/json-number.js'
import { parsePath } from '../values/json-path.js'
import { JsonPathError, type Path } from '../values/json-path-syntax.js'
import { JsonTextError, type Layout, parseJson } from '../values/json-text.js'
import { isNumber, type Json } from '../values/json-value.js'

export const path: Arg<Path> = word('path', toPath)
export const value: Arg<Json> = word('value', toJson)

/** Default path: the whole document. The reply has the form for a legacy path. */
export const rootPath: Path = parsePath(latin1('.'))
export const pathOrRoot: Arg<Path> = { ...optional(path), read: (from) => (from.left > 0 ? path.read(from) : rootPath) }

export const number: Arg<JsonNumber> = word('value', (text) => {
  const read = jsonOrUndefined(text)
  if (read === undefined || !isNumber(read)) throw replyError('notFloat')
  return read
})

/** Parser for an optional path before the last argument. */
export const pathBeforeLast: Arg<Path> = { ...pathOrRoot, read: (from) => (from.left > 1 ? path.read(from) : rootPath) }

/** Parser for `key [key …] path`. */
export const keysAndPath: Arg<{ keys: Bytes[]; path: Path }> = {
  usage: 'key [key …] path',
  min: 2,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const keys: Bytes[] = []
    while (from.left > 1) keys.push(from.key('R'))
    return { keys, path: path.read(from) }
  },
}

/** Parser for the formatting options and paths of JSON.GET, in any order, as RedisJSON reads them. */
export const layoutAndPaths: Arg<{ layout: Layout; paths: Path[] }> = {
  usage: '[INDENT indent] [NEWLINE newline] [SPACE space] [path …]',
  min: 0,
  max: Number.POSITIVE_INFINITY,
  read(from) {
    const layout = { indent: latin1(''), newline: latin1(''), space: latin1('') }
    const paths: Path[] = []
    while (from.left > 0) {
      if (from.takes('INDENT')) layout.indent = from.next()
      else if (from.takes('NEWLINE')) layout.newline = from.next()
      else if (from.takes('SPACE')) layout.space = from.next()
      else paths.push(path.read(from))
    }
    return { layout, paths }
  },
}

function toPath(word: Bytes): Path {
  try {
    return parsePath(word)
  } catch (error) {
    throw error instanceof JsonPathError ? invalidJsonPath(word, error.message) : error
  }
}

function toJson(word: Bytes): Json {
  try {
    return parseJson(word)
  } catch (error) {
    if (error instanceof JsonTextError) throw replyError(error.reason === 'depth' ? 'jsonDepth' : 'jsonValue')
    throw error
  }
}

function jsonOrUndefined(word: Bytes): Json | undefined {
  try {
    return parseJson(word)
  } catch (error) {
    if (error instanceof JsonTextError) return undefined
    throw error
  }
}
