import type { Language } from '../values/search-definition.js'
import type { Stem } from './analysis.js'

/** Loaded stemmers. */
export const stems: Map<Language, Stem> = new Map()

/**
 * Returns the stemmer of a language.
 * @throws TypeError when it is not loaded
 */
export function stemOf(language: Language): Stem {
  const stem = stems.get(language)
  if (stem === undefined) throw new SearchNotLoaded(language)
  return stem
}

/** Error for a search command in code that cannot wait for loading. */
export class SearchNotLoaded extends TypeError {
  readonly language: Language

  constructor(language: Language = 'english') {
    super(
      `store.run(): SEARCH commands for ${language} are not loaded yet, and store.run() cannot wait. Add \`await sandbox.store.loadSearch('${language}')\` before it; this also serves forks, sandbox.asOf() and other sandboxes (REST requests, connections and scenarios load automatically).`,
    )
    this.language = language
  }
}
