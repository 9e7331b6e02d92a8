import type { Bytes } from '../../kernel/bytes.js'
import { parseInt64 } from '../command/text.js'
import type { HashValue } from './hash-value.js'
import type { SetValue } from './set-value.js'
import type { SortedSet } from './sorted-set-value.js'

// Recognizes small collections that redis-server encodes compactly, with its default limits. Clients see the encoding
// in OBJECT ENCODING. Clients also see the encoding in scans, which return a compact collection completely for every
// COUNT. [redis 7.0]

const maxEntry = 64
const maxFields = 512
const maxIntegers = 512
const maxScored = 128

export function isCompactHash(fields: HashValue): boolean {
  if (fields.size > maxFields) return false
  for (const [field, text] of fields) if (field.length > maxEntry || text.length > maxEntry) return false
  return true
}

export function isIntegerSet({ members }: SetValue): boolean {
  if (members.size > maxIntegers) return false
  for (const member of members.keys()) if (parseInt64(member) === undefined) return false
  return true
}

/** Returns the members of a set of integers in ascending order, as redis stores them. */
export function integersInOrder({ members }: SetValue): Bytes[] {
  return [...members.keys()].sort((one, other) => (parseInt64(one)! < parseInt64(other)! ? -1 : 1))
}

export function isCompactSortedSet(set: SortedSet): boolean {
  if (set.size > maxScored) return false
  for (const member of set.members()) if (member.length > maxEntry) return false
  return true
}
