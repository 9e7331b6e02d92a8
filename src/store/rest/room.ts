/** Characters of the longest string that every engine of the supported versions makes. */
export const longestString = 536_870_888

/** A reply that is encoded grew beyond the bytes that were left for it. */
export class NoRoom extends Error {}

export function noRoom(): never {
  throw new NoRoom('a reply has no room in its answer')
}
