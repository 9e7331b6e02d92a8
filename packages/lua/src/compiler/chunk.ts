import type { LuaFunction } from '../runtime/lua-value.js'
import { LuaSyntaxError } from '../syntax/lexer.js'
import { parse } from '../syntax/parser.js'
import { compileChunk } from './compile.js'

/** Compiled source. Each call creates the main function, for one run. All machines can use the same chunk. */
export type Chunk = () => LuaFunction

/**
 * Limits of the cache of compiled sources. All machines of the process share the cache, because chunks have no state.
 */
const cachedChunks = 200
const cachedCharacters = 2_000_000

const cache = new Map<string, Chunk>()
let cachedLength = 0

/**
 * Returns the compiled source, from the cache if possible. `name` is the Lua chunk name: `@file`, `=name`, or the
 * source itself.
 * @throws LuaSyntaxError when the source is invalid
 */
export function load(source: string, name: string): Chunk {
  const shown = displayName(name)
  const key = `${shown}\n${source}`
  const known = cache.get(key)
  if (known !== undefined) {
    // The first key of a `Map` is the oldest one. A used key is inserted again, so the first key is the least recently
    // used.
    cache.delete(key)
    cache.set(key, known)
    return known
  }
  const chunk = compile(source, shown)
  cache.set(key, chunk)
  cachedLength += key.length
  while (cache.size > cachedChunks || (cachedLength > cachedCharacters && cache.size > 1)) {
    const [oldest] = cache.keys()
    cache.delete(oldest!)
    cachedLength -= oldest!.length
  }
  return chunk
}

/** Compiles without the cache. @param shown name of the chunk in error messages */
export function compile(source: string, shown: string): Chunk {
  try {
    return compileChunk(parse(source, shown), shown)
  } catch (problem) {
    // The parser limits the nesting. The stack can only overflow if the caller has already used most of it.
    if (problem instanceof RangeError) {
      throw new LuaSyntaxError(`${shown}:1: chunk has too many syntax levels`, 1, 1, undefined)
    }
    throw problem
  }
}

/** redis-server cuts the names of chunks in error messages to this length. */
const maxName = 79

/**
 * Returns the name of a chunk for error messages: `user_script`, or `[string "return 1"]` for a source without a name.
 */
function displayName(name: string): string {
  if (name.startsWith('=')) return name.slice(1, 1 + maxName)
  if (name.startsWith('@')) {
    const file = name.slice(1)
    return file.length > 72 ? `...${file.slice(-72)}` : file
  }
  const line = name.slice(0, firstLineEnd(name)).slice(0, 63)
  return line.length < name.length ? `[string "${line}..."]` : `[string "${line}"]`
}

function firstLineEnd(text: string): number {
  const at = text.search(/[\r\n\0]/)
  return at < 0 ? text.length : at
}
