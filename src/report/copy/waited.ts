/**
 * Converts a blocking command to a command that does the same without blocking.
 * @param words the command's name and its arguments
 * @param key the key that had elements
 */
type Plain = (words: readonly string[], key: string) => readonly string[]

const popped =
  (name: string): Plain =>
  (_words, key) => [name, key]
/** Removes the timeout, and all keys except the key that had elements. */
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
 * Returns a command that does not block but has the same effect as a blocking command when its wait ended. So playing a
 * copied log changes the store in the same way.
 * @returns `undefined` if the command returned nothing
 */
export function withoutWait(words: readonly string[], reply: unknown): readonly string[] | undefined {
  const name = String(words[0]).toUpperCase()
  if (!Object.hasOwn(plain, name)) return words
  const key: unknown = Array.isArray(reply) ? reply[0] : reply
  return typeof key === 'string' ? plain[name]!(words, key) : undefined
}
