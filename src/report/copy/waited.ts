/** What stands for a command that waits, where nothing does, by its words and its reply; the name first. */
type Plain = (words: readonly string[], key: string) => readonly string[]

const popped =
  (name: string): Plain =>
  (_words, key) => [name, key]
/** Without the time behind the name; of the keys the one that had something. */
const poppedMany =
  (name: string): Plain =>
  ([, , count, ...rest], key) => [name, '1', key, ...rest.slice(Number(count))]
const moved =
  (name: string): Plain =>
  ([, ...words]) => [name, ...words.slice(0, -1)]

const plain: Readonly<Record<string, Plain>> = {
  BLPOP: popped('LPOP'),
  BRPOP: popped('RPOP'),
  BZPOPMIN: popped('ZPOPMIN'),
  BZPOPMAX: popped('ZPOPMAX'),
  BLMPOP: poppedMany('LMPOP'),
  BZMPOP: poppedMany('ZMPOP'),
  BLMOVE: moved('LMOVE'),
  BRPOPLPUSH: moved('RPOPLPUSH'),
}

/**
 * A command as one that does not wait and does the same, at the time when it ended: with it the copy of a log leaves what
 * the log left. @returns `undefined` for one that got nothing
 */
export function withoutWait(words: readonly string[], reply: unknown): readonly string[] | undefined {
  const name = String(words[0]).toUpperCase()
  if (!Object.hasOwn(plain, name)) return words
  const key: unknown = Array.isArray(reply) ? reply[0] : reply
  return typeof key === 'string' ? plain[name]!(words, key) : undefined
}
