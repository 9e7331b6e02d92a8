import { compile, type LuaFunction } from '@stuntdouble/lua'
import type { Bytes } from '../../kernel/bytes.js'
import { sha1Hex } from '../../kernel/digest.js'
import { readScript, type ScriptFlags } from './shebang.js'

/** Parsed and compiled script, shared by all stores and runs. */
export interface PreparedScript {
  readonly source: Bytes
  /** SHA1 of the whole source, including its first line. */
  readonly digest: string
  readonly flags: ScriptFlags | undefined
  /** Main function. It has no upvalues and is not accessible to scripts, so all runs share it. */
  readonly main: LuaFunction
}

/** Prefix of positions in scripts, as in redis: `user_script:1:`. */
export const scriptName = 'user_script'

/**
 * Maximum number of scripts kept for all stores of the process. Each test creates a store, but most tests run the same
 * few scripts.
 */
const keptScripts = 300
/**
 * Maximum characters of all kept scripts together. A compiled script takes up to 250 times as much memory as its
 * source.
 */
const keptCharacters = 1_048_576

const kept = new Map<Bytes, PreparedScript>()
let characters = 0

/**
 * Parses and compiles a script.
 * @throws ReplyError for an invalid first line, `LuaSyntaxError` for invalid Lua
 */
export function prepareScript(source: Bytes): PreparedScript {
  const known = kept.get(source)
  if (known !== undefined) return known
  const { body, flags } = readScript(source)
  const prepared = { source, digest: sha1Hex(source), flags, main: compile(body, scriptName)() }
  kept.set(source, prepared)
  characters += source.length
  // A map iterates in order of insertion, so the oldest script is dropped. If the script is still in use, it is soon
  // prepared again.
  for (const oldest of kept.keys()) {
    if (kept.size <= keptScripts && characters <= keptCharacters) break
    kept.delete(oldest)
    characters -= oldest.length
  }
  return prepared
}
