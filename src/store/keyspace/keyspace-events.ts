/** Flags of `notify-keyspace-events`: event classes, `e` evicted, and the two kinds of channel, `K` and `E`. */
export type EventFlags = ReadonlySet<string>

export const noEvents: EventFlags = new Set()

/** Classes included in `A` on redis-server 7.0, in the order in which the letters are shown. */
const listed = [...'g$lshzxetd']
/**
 * Classes included in `A`. The service's documentation lists no letter for arrays, so the listed classes together are
 * still `A`. Key misses and new keys are not included. [array.md 7]
 */
const all = [...listed, 'a']
const known = new Set([...all, ...'nKEm'])

/** Parses the letters; returns `undefined` if one is unknown. */
export function parseEventFlags(letters: string): EventFlags | undefined {
  const flags = new Set<string>()
  for (const letter of letters) {
    if (letter === 'A') for (const each of all) flags.add(each)
    else if (known.has(letter)) flags.add(letter)
    else return undefined
  }
  if (listed.every((letter) => flags.has(letter))) flags.add('a')
  return flags
}

/**
 * Formats flags as CONFIG GET does: `KEA` becomes `AKE`. If all classes of `A` are set, `n` is not shown. [store.md
 * 7.2, redis 7.0]
 */
export function formatEventFlags(flags: EventFlags): string {
  const shown = (letters: string | string[]) => [...letters].filter((letter) => flags.has(letter)).join('')
  return (all.every((letter) => flags.has(letter)) ? 'A' : shown([...all, 'n'])) + shown('KEm')
}
