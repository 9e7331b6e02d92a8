import { hostPause } from '../../kernel/host.js'
import type { CommandContext } from '../command/command.js'
import { type Language, languages } from '../values/search-definition.js'
import type { Stem } from './analysis.js'
import { SearchNotLoaded, stems } from './stems.js'

type Store = CommandContext['store']

// The search engine and the stemmers are large, so they are loaded on first use. Commands are synchronous, so code that
// receives requests awaits the loading before running a search command. docs/decisions/search.md

export type SearchModule = typeof import('./search-engine.js')

type StemmerModule = { readonly stemmer: Stem }

const stemmers: Readonly<Record<Language, () => Promise<StemmerModule>>> = {
  arabic: () => import('@orama/stemmers/arabic'),
  danish: () => import('@orama/stemmers/danish'),
  dutch: () => import('@orama/stemmers/dutch'),
  english: async () => ({ stemmer: (await import('./english.js')).stemEnglish }),
  finnish: () => import('@orama/stemmers/finnish'),
  french: () => import('@orama/stemmers/french'),
  german: () => import('@orama/stemmers/german'),
  greek: () => import('@orama/stemmers/greek'),
  hungarian: () => import('@orama/stemmers/hungarian'),
  italian: () => import('@orama/stemmers/italian'),
  norwegian: () => import('@orama/stemmers/norwegian'),
  portuguese: () => import('@orama/stemmers/portuguese'),
  romanian: () => import('@orama/stemmers/romanian'),
  russian: () => import('@orama/stemmers/russian'),
  spanish: () => import('@orama/stemmers/spanish'),
  swedish: () => import('@orama/stemmers/swedish'),
  tamil: () => import('@orama/stemmers/tamil'),
  turkish: () => import('@orama/stemmers/turkish'),
}

let engine: SearchModule | undefined

export async function loadSearch(wanted: Iterable<Language>): Promise<void> {
  const missing = [...new Set(wanted)].filter((language) => !stems.has(language))
  const [loaded] = await Promise.all([
    import('./search-engine.js'),
    ...missing.map(async (language) => void stems.set(language, (await stemmers[language]()).stemmer)),
  ])
  engine = loaded
}

/**
 * Returns the search engine.
 * @throws TypeError when it is not loaded. @param language language of the index
 */
export function searchModule(language?: Language): SearchModule {
  if (engine === undefined || isHidden) throw new SearchNotLoaded(language)
  return engine
}

let isHidden = false

/**
 * Runs a function as if no search code was loaded. A replay uses it for calls that originally ran before the code was
 * loaded.
 */
export function beforeLoading(run: () => void): void {
  isHidden = true
  try {
    run()
  } finally {
    isHidden = false
  }
}

/** Recorded calls that ran before the code that they need was loaded. */
export const calledTooEarly: WeakSet<object> = new WeakSet()

/** Matches the beginning of a search command in requests, where the dot may be escaped. */
export const searchMention: RegExp = /search(?:\.|%2e|\\u002e)/i

/**
 * Matches commands that run earlier or stored commands: EXEC runs queued commands, EVALSHA and FCALL run stored code.
 */
const hiddenMention = /^exec$|evalsha|fcall/i

/**
 * Returns whether a request with these arguments can run a search command.
 * @param store the store of the request, with the prepared scripts and transactions
 */
function maySearch(words: readonly string[], store: Store | undefined): boolean {
  if (words.some((word) => searchMention.test(word))) return true
  return store?.db.search.isWatching === true && words.some((word) => hiddenMention.test(word))
}

/**
 * Returns a promise if a request with these arguments must wait: code must be loaded, or indexes must be updated. In
 * nearly all cases, returns `undefined`.
 * @param store the store of the request, with the languages of its indexes
 */
export function searchLoading(words: readonly string[], store?: Store): Promise<void> | undefined {
  if (!maySearch(words, store)) return undefined
  const wanted = new Set<Language>(['english'])
  for (const word of words) {
    // The word is possibly not the language of an index, but loading an additional language is harmless.
    const lower = word.toLowerCase()
    for (const language of languages) if (lower.includes(language)) wanted.add(language)
  }
  for (const { definition } of store?.db.search.all.values() ?? []) wanted.add(definition.language)
  if (engine === undefined || ![...wanted].every((language) => stems.has(language)))
    return loadSearch(wanted).then(() => (store === undefined ? undefined : catchUp(store)))
  if (store === undefined || engine.catchUp(store)) return undefined
  return hostPause().then(() => catchUp(store))
}

/** Updates indexes in slices. After each slice, other work can run. */
async function catchUp(store: Store): Promise<void> {
  while (!searchModule().catchUp(store)) await hostPause()
}
