import type { Language } from '../values/search-definition.js'
import type { Stem } from './analysis.js'

/** Those that are loaded. */
export const stems: Map<Language, Stem> = new Map()

/** Throws TypeError while it is not loaded. */
export function stemOf(language: Language): Stem {
  const stem = stems.get(language)
  if (stem === undefined) throw new SearchNotLoaded(language)
  return stem
}

/** A command that searches came where nobody can wait. */
export class SearchNotLoaded extends TypeError {
  readonly language: Language

  constructor(language: Language = 'english') {
    super(
      `SEARCH commands are loaded on first use, and store.run() cannot wait for that: write \`await sandbox.store.loadSearch('${language}')\` before it. That serves looks back (sandbox.asOf()), forks and all other sandboxes, too; REST requests, connections and scenarios need no such line.`,
    )
    this.language = language
  }
}
