import { hostPause } from '../../kernel/host.js'
import type { CommandContext } from '../command/command.js'
import { type Language, languages } from '../values/search-definition.js'
import type { Stem } from './analysis.js'
import { SearchNotLoaded, stems } from './stems.js'

type Store = CommandContext['store']

// The engine and the stemmers weigh more than most tests that do not search should carry: they are loaded on first use.
// Commands are synchronous, so whoever takes requests in waits before it runs one that searches. docs/decisions/search.md

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

/** Loads what commands of these languages need. */
export async function loadSearch(wanted: Iterable<Language>): Promise<void> {
  const missing = [...new Set(wanted)].filter((language) => !stems.has(language))
  const [loaded] = await Promise.all([
    import('./search-engine.js'),
    ...missing.map(async (language) => void stems.set(language, (await stemmers[language]()).stemmer)),
  ])
  engine = loaded
}

/** Throws TypeError while it is not loaded. @param language what it is wanted for */
export function searchModule(language?: Language): SearchModule {
  if (engine === undefined || isHidden) throw new SearchNotLoaded(language)
  return engine
}

let isHidden = false

/** Runs something as if nothing was loaded: what came too early is played again as it was. */
export function beforeLoading(run: () => void): void {
  isHidden = true
  try {
    run()
  } finally {
    isHidden = false
  }
}

/** Recorded calls that came before what they need was loaded. */
export const calledTooEarly: WeakSet<object> = new WeakSet()

/** The beginning of a command as it is written in requests, the dot perhaps escaped. */
export const searchMention: RegExp = /search(?:\.|%2e|\\u002e)/i

/** Commands that run others, whose words came before. */
const hiddenMention = /^exec$|evalsha|fcall/i

/** Whether a request with these words may search. @param store where it runs: what was prepared there is known */
function maySearch(words: readonly string[], store: Store | undefined): boolean {
  if (words.some((word) => searchMention.test(word))) return true
  return store?.db.search.isWatching === true && words.some((word) => hiddenMention.test(word))
}

/**
 * What has to be loaded, or taken in by indexes, before something runs that has these words in it; `undefined` when nothing
 * has to be, as nearly always.
 * @param store where it runs: the languages of its indexes are needed, too
 */
export function searchLoading(words: readonly string[], store?: Store): Promise<void> | undefined {
  if (!maySearch(words, store)) return undefined
  const wanted = new Set<Language>(['english'])
  for (const word of words) {
    // A language more than is needed does no harm.
    const lower = word.toLowerCase()
    for (const language of languages) if (lower.includes(language)) wanted.add(language)
  }
  for (const { definition } of store?.db.search.all.values() ?? []) wanted.add(definition.language)
  if (engine === undefined || ![...wanted].every((language) => stems.has(language)))
    return loadSearch(wanted).then(() => (store === undefined ? undefined : catchUp(store)))
  if (store === undefined || engine.catchUp(store)) return undefined
  return hostPause().then(() => catchUp(store))
}

/** Others have their turn after each slice. */
async function catchUp(store: Store): Promise<void> {
  while (!searchModule().catchUp(store)) await hostPause()
}
