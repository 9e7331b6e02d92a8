import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two strings in a time that does not depend on where they differ or how long they are. */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(hash(one), hash(other))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
