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
      `store.run(): the code for SEARCH commands in ${language} is not loaded yet, and store.run() cannot wait for it. Call \`await sandbox.store.loadSearch('${language}')\` first, once for all sandboxes, forks and sandbox.asOf(). REST requests, connections and scenarios load the code automatically.`,
    )
    this.language = language
  }
}
