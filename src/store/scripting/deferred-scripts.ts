import type { ScriptStore } from './redis-library.js'
import { Scripts } from './scripts.js'

/** Creates the scripts and functions of a store. */
export function createScripts(store: ScriptStore): Scripts {
  return new Scripts(store)
}
