import { createHash, timingSafeEqual } from 'node:crypto'

/**
 * Returns whether two strings are equal. The duration of the comparison reveals neither where they differ nor how long
 * they are.
 */
export function isSameText(one: string, other: string): boolean {
  return timingSafeEqual(hash(one), hash(other))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
