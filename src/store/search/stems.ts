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
      `store.run(): SEARCH commands for ${language} are not loaded yet, and store.run() cannot wait. Add \`await sandbox.store.loadSearch('${language}')\` before it; this also serves forks, sandbox.asOf() and other sandboxes (REST requests, connections and scenarios load automatically).`,
    )
    this.language = language
  }
}
