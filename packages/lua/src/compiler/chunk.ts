import type { LuaFunction } from '../runtime/lua-value.js'
import { LuaSyntaxError } from '../syntax/lexer.js'
import { parse } from '../syntax/parser.js'
import { compileChunk } from './compile.js'

/** Compiled source. A call creates the main function for a new run. The chunk belongs to no machine. */
export type Chunk = () => LuaFunction

/** Limits of the cache of compiled sources. Chunks have no state, so all machines of the process share one cache. */
const cachedChunks = 200
const cachedCharacters = 2_000_000

const cache = new Map<string, Chunk>()
let cachedLength = 0

/**
 * Compiles a source, or returns it from the cache. `name` is the Lua chunk name: `@file`, `=name`, or the source
 * itself.
 * @throws LuaSyntaxError when the source is invalid
 */
export function load(source: string, name: string): Chunk {
  const shown = displayName(name)
  const key = `${shown}\n${source}`
  const known = cache.get(key)
  if (known !== undefined) {
    // Maps iterate in order of insertion, so the first key is the least recently used.
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

/** Compiles without the cache. @param shown name of the chunk in positions */
export function compile(source: string, shown: string): Chunk {
  try {
    return compileChunk(parse(source, shown), shown)
  } catch (problem) {
    // The parser's limits prevent a stack overflow, unless the caller already used most of the stack.
    if (problem instanceof RangeError) {
      throw new LuaSyntaxError(`${shown}:1: chunk has too many syntax levels`, 1, 1, undefined)
    }
    throw problem
  }
}

/** Length to which redis cuts chunk names in messages. */
const maxName = 79

/** Returns the name of a chunk in positions: `user_script`, or `[string "return 1"]` for a source without a name. */
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
