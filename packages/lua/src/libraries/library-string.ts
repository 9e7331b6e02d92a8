import { argumentError, call, chargeBytes, chargeReading, checkLength, hostError } from '../runtime/activation.js'
import { checkInt, checkInteger, checkString, library, optionalInteger } from '../runtime/library-arguments.js'
import type { LuaFunction, LuaValue, Result } from '../runtime/lua-value.js'
import { first, LuaTable, nothing, typeName } from '../runtime/lua-value.js'
import { index, plainText, stringMeta } from '../runtime/operations.js'
import { charge } from '../runtime/steps.js'
import { Matcher } from './pattern.js'
import { format } from './string-format.js'

function byte(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  const from = position(optionalInteger(args, 1, 1), text.length)
  const to = position(args[2] === undefined ? from : checkInteger(args, 2), text.length)
  const start = Math.max(from, 1)
  const end = Math.min(to, text.length)
  if (start > end) return nothing
  const codes: LuaValue[] = []
  if (end - start > 7990) throw hostError('string slice too long')
  charge((end - start) >> 2)
  for (let at = start; at <= end; at++) codes.push(text.charCodeAt(at - 1))
  return codes
}

/** Converts a position in a string. A negative position counts from the end. */
function position(value: number, length: number): number {
  if (value >= 0) return value
  return Math.max(value + length + 1, 0)
}

function char(...args: LuaValue[]): Result {
  let text = ''
  for (let at = 0; at < args.length; at++) {
    const code = checkInt(args, at)
    if (code < 0 || code > 255) throw argumentError(at + 1, 'invalid value')
    text += String.fromCharCode(code)
  }
  return text
}

function sub(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  const from = position(checkInteger(args, 1), text.length)
  const to = position(optionalInteger(args, 2, -1), text.length)
  return text.slice(Math.max(from, 1) - 1, Math.max(to, 0))
}

function rep(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  const count = checkInt(args, 1)
  if (count <= 0 || text === '') return ''
  chargeBytes(text.length * count)
  return text.repeat(count)
}

function reverse(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  chargeBytes(text.length)
  charge(text.length)
  let result = ''
  for (let at = text.length - 1; at >= 0; at--) result += text[at]
  return result
}

/** Implements `string.lower`. In the C locale, only 26 letters have upper and lower case. */
function lower(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  chargeBytes(text.length)
  charge(text.length >> 1)
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function upper(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  chargeBytes(text.length)
  charge(text.length >> 1)
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

// Patterns.

const special = /[\^$*+?.([%-]/

function find(...args: LuaValue[]): Result {
  return search(args, true)
}

function match(...args: LuaValue[]): Result {
  return search(args, false)
}

function search(args: readonly LuaValue[], isFind: boolean): Result {
  const text = checkString(args, 0)
  const pattern = checkString(args, 1)
  const start = Math.min(Math.max(position(optionalInteger(args, 2, 1), text.length) - 1, 0), text.length)
  const isPlain = args[3] !== undefined && args[3] !== false
  if (isFind && (isPlain || !special.test(pattern))) {
    chargeReading(4 * (text.length - start) + pattern.length)
    const at = text.indexOf(pattern, start)
    return at < 0 ? undefined : [at + 1, at + pattern.length]
  }
  const isAnchored = pattern.charCodeAt(0) === 94
  const matcher = new Matcher(text, pattern)
  for (let at = start; at <= text.length; at++) {
    const end = matcher.match(at, isAnchored ? 1 : 0)
    if (end >= 0) {
      if (!isFind) return matcher.captures(at, end, true)
      return [at + 1, end, ...matcher.captures(at, end, false)]
    }
    if (isAnchored) break
  }
  return undefined
}

function gmatch(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  const pattern = checkString(args, 1)
  const matcher = new Matcher(text, pattern)
  let at = 0
  return () => {
    for (; at <= text.length; at++) {
      const start = at
      const end = matcher.match(start, 0)
      if (end < 0) continue
      at = end === start ? end + 1 : end
      return matcher.captures(start, end, true)
    }
    return nothing
  }
}

type Replace = (matcher: Matcher, start: number, end: number) => LuaValue

function gsub(...args: LuaValue[]): Result {
  const text = checkString(args, 0)
  const pattern = checkString(args, 1)
  const replace = replacement(args)
  const limit = args[3] === undefined ? text.length + 1 : checkInt(args, 3)
  const isAnchored = pattern.charCodeAt(0) === 94
  const matcher = new Matcher(text, pattern)
  const pieces: string[] = []
  let length = 0
  let at = 0
  let count = 0
  while (count < limit) {
    charge(3)
    const end = matcher.match(at, isAnchored ? 1 : 0)
    let piece: string
    if (end >= 0) {
      count++
      piece = replaced(replace(matcher, at, end), text.slice(at, end))
    } else {
      piece = ''
    }
    if (end > at) {
      at = end
    } else if (at < text.length) {
      piece += text[at++]
    } else {
      pieces.push(piece)
      break
    }
    pieces.push(piece)
    length += piece.length
    checkLength(length)
    if (isAnchored) break
  }
  pieces.push(text.slice(at))
  chargeBytes(length)
  return [pieces.join(''), count]
}

function replaced(value: LuaValue, original: string): string {
  if (value === undefined || value === false) return original
  if (typeof value === 'string') return value
  if (typeof value === 'number') return plainText(value)
  throw hostError(`invalid replacement value (a ${typeName(value)})`)
}

function replacement(args: readonly LuaValue[]): Replace {
  const value = args[2]
  if (typeof value === 'function') {
    return (matcher, start, end) => first(call(value, ...matcher.captures(start, end, true)))
  }
  if (value instanceof LuaTable) {
    return (matcher, start, end) => index(value, matcher.capture(0, start, end), noOperation)
  }
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw argumentError(3, 'string/function/table expected')
  }
  const template = plainText(value)
  return template.includes('%') ? (matcher, start, end) => fill(template, matcher, start, end) : () => template
}

const noOperation = {
  site: { chunk: '', line: 0, name: undefined, isMethod: false, isTail: false },
  left: undefined,
  right: undefined,
}

/** Replaces `%0` to `%9` in a template by captures. After `%`, any other character is literal. */
function fill(template: string, matcher: Matcher, start: number, end: number): string {
  let text = ''
  for (let at = 0; at < template.length; at++) {
    if (template[at] !== '%') {
      text += template[at]
      continue
    }
    at++
    // If the template ends with `%`, the reference implementation reads the zero byte after the end.
    const digit = at < template.length ? template[at]! : '\0'
    if (digit < '0' || digit > '9') text += digit
    else if (digit === '0') text += matcher.source.slice(start, end)
    else text += plainText(matcher.capture(Number(digit) - 1, start, end))
  }
  return text
}

const functions: Record<string, LuaFunction> = {
  byte,
  char,
  dump: () => {
    throw hostError('unable to dump given function')
  },
  find,
  format,
  gfind: gmatch,
  gmatch,
  gsub,
  len: (...args: LuaValue[]) => checkString(args, 0).length,
  lower,
  match,
  rep,
  reverse,
  sub,
  upper,
}

export const stringLibrary: LuaTable = library(functions)

stringMeta.set('__index', stringLibrary)
stringMeta.isReadonly = true
