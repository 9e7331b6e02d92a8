import { compile, type LuaFunction } from '@stuntdouble/lua'
import type { Bytes } from '../../kernel/bytes.js'
import { sha1Hex } from '../../kernel/digest.js'
import { readScript, type ScriptFlags } from './shebang.js'

/** A script read and compiled. It belongs to no store and no run. */
export interface PreparedScript {
  readonly source: Bytes
  /** SHA1 over the whole source, its first line included. */
  readonly digest: string
  readonly flags: ScriptFlags | undefined
  /** The main function. It closes over nothing and nobody can get hold of it, so all runs share it. */
  readonly main: LuaFunction
}

/** How positions in scripts begin, as in redis: `user_script:1:`. */
export const scriptName = 'user_script'

/** Kept for all stores of the process: tests make a store each and run the same few scripts. */
const keptScripts = 300
/** Characters of all of them: compiled, a script takes up to 250 times as much memory. */
const keptCharacters = 1_048_576

const kept = new Map<Bytes, PreparedScript>()
let characters = 0

/** Throws `ReplyError` for the first line, `LuaSyntaxError` for the rest. */
export function prepareScript(source: Bytes): PreparedScript {
  const known = kept.get(source)
  if (known !== undefined) return known
  const { body, flags } = readScript(source)
  const prepared = { source, digest: sha1Hex(source), flags, main: compile(body, scriptName)() }
  kept.set(source, prepared)
  characters += source.length
  // The order of a map is the order of insertion; a script in use is soon prepared again.
  for (const oldest of kept.keys()) {
    if (kept.size <= keptScripts && characters <= keptCharacters) break
    kept.delete(oldest)
    characters -= oldest.length
  }
  return prepared
}
