/**
 * Converts a blocking command to the equivalent one that does not block. Arguments and reply include the name first.
 */
type Plain = (words: readonly string[], key: string) => readonly string[]

const popped =
  (name: string): Plain =>
  (_words, key) => [name, key]
/** Removes the timeout after the name, and all keys except the one that had elements. */
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
 * Returns the equivalent of a blocking command that does not block, for the time at which it ended. The copy of a log
 * then has the same effect on the store.
 * @returns `undefined` if the command returned nothing
 */
export function withoutWait(words: readonly string[], reply: unknown): readonly string[] | undefined {
  const name = String(words[0]).toUpperCase()
  if (!Object.hasOwn(plain, name)) return words
  const key: unknown = Array.isArray(reply) ? reply[0] : reply
  return typeof key === 'string' ? plain[name]!(words, key) : undefined
}
