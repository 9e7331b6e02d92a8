import { cString } from '@stuntdouble/lua'
import type { Bytes } from '../../kernel/bytes.js'
import * as refuse from './script-errors.js'

// First line of a script or library. The line declares how to run the script or library. [store.md 9.5, redis 7.0]

export interface ScriptFlags {
  readonly noWrites: boolean
  /** Flag `allow-key-locking`, which only the service has: every key must be in KEYS. */
  readonly keyLocking: boolean
  /** Flags as written, for FUNCTION LIST. */
  readonly names: readonly string[]
}

export const noFlags: ScriptFlags = { noWrites: false, keyLocking: false, names: [] }

const known = new Set([
  'no-writes',
  'allow-oom',
  'allow-stale',
  'no-cluster',
  'allow-cross-slot-keys',
  'allow-key-locking',
])

export function isFlag(name: string): boolean {
  return known.has(name)
}

export function flagsOf(names: readonly string[]): ScriptFlags {
  return { noWrites: names.includes('no-writes'), keyLocking: names.includes('allow-key-locking'), names }
}

export interface ParsedScript {
  /** Source whose first line was made empty, so that line numbers stay the same. */
  readonly body: string
  /** Flags of the shebang. Scripts without a shebang run in compatibility mode and have no flags. */
  readonly flags: ScriptFlags | undefined
}

/**
 * Removes the shebang of a script for EVAL.
 * @throws ReplyError when it is invalid
 */
export function readScript(source: Bytes): ParsedScript {
  if (!source.startsWith('#!')) return { body: source, flags: undefined }
  const end = lineEnd(source)
  if (end < 0) throw refuse.scriptError('invalidShebang')
  const words = splitWords(source.slice(0, end))
  if (words === undefined || words.length === 0) throw refuse.scriptError('invalidEngine')
  const [engine, ...options] = words
  if (engine !== '#!lua') throw refuse.unexpectedEngineLine(engine!)
  const names: string[] = []
  for (const option of options) {
    if (!option.startsWith('flags=')) throw refuse.unknownShebangOption(option)
    const list = option.slice('flags='.length)
    const flags = list === '' ? [] : list.split(',')
    for (const flag of flags) {
      if (!isFlag(flag)) throw refuse.unexpectedFlag(flag)
      names.push(flag)
    }
  }
  return { body: source.slice(end), flags: flagsOf(names) }
}

/** Returns the position of the end of the first line. A zero byte also ends the line. */
function lineEnd(source: Bytes): number {
  return cString(source).indexOf('\n')
}

export interface Library {
  readonly name: string
  readonly body: string
}

/**
 * Reads `#!lua name=<library>`.
 * @throws ReplyError when it is invalid
 */
export function readLibrary(source: Bytes): Library {
  if (!source.startsWith('#!')) throw refuse.scriptError('missingMetadata')
  const end = lineEnd(source)
  const words = end < 0 ? undefined : splitWords(source.slice(0, end))
  if (words === undefined || words.length === 0) throw refuse.scriptError('invalidMetadata')
  const [engine, ...options] = words
  let name: string | undefined
  for (const option of options) {
    if (!option.startsWith('name=')) throw refuse.unknownMetadata(option)
    if (name !== undefined) throw refuse.scriptError('repeatedName')
    name = option.slice('name='.length)
  }
  if (name === undefined) throw refuse.scriptError('noLibraryName')
  if (!isName(name)) throw refuse.badName()
  if (engine!.slice(2).toLowerCase() !== 'lua') throw refuse.engineNotFound(engine!.slice(2))
  return { name, body: source.slice(end) }
}

export function isName(name: string): boolean {
  return /^[A-Za-z0-9_]+$/.test(name)
}

/**
 * Splits a line as a shell does, with quotes and escapes. Returns `undefined` if a quote is not closed, or if a
 * character directly follows a closing quote.
 */
function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  const word = /\s*((?:"(?:[^"\\]|\\.)*"(?=\s|$)|'(?:[^'\\]|\\.)*'(?=\s|$)|[^\s"'])+)/gy
  let end = 0
  for (let match = word.exec(line); match !== null; match = word.exec(line)) {
    words.push(match[1]!.replace(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g, unquote))
    end = word.lastIndex
  }
  return line.slice(end).trim() === '' ? words : undefined
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', a: '\x07' }

function unquote(_: string, double: string | undefined, single: string | undefined): string {
  if (double === undefined) return single!.replace(/\\'/g, "'")
  return double.replace(/\\(?:x([0-9a-fA-F]{2})|(.))/g, (__, hex: string | undefined, char: string) =>
    hex === undefined ? (escapes[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
