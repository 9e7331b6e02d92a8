import { utf8 } from '../../kernel/bytes.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { type ArrayIndex, ArrayValue, noIndex, parseIndex } from '../values/array-value.js'

/** Array as JSON. Indexes are texts, because JSON readers round large numbers. */
export interface PortableArray {
  /** The value is an array. */
  readonly type: 'array'
  /** Filled slots in ascending order. */
  readonly slots: readonly (readonly [index: string, value: PortableString])[]
  /** Index that the next ARINSERT writes; `18446744073709551615` if there is none. */
  readonly next: string
  /** Size of the last ARRING, which the policy `arrayRing: 'stored'` uses. Absent if there was no ARRING. */
  readonly ringSize?: string | undefined
}

export function portableArray(array: ArrayValue): PortableArray {
  const slots: [string, PortableString][] = []
  array.walk((value, index) => {
    slots.push([String(index), portableString(value)])
  })
  const { next, ringSize } = array
  return {
    type: 'array',
    slots,
    next: String(next),
    ...(ringSize !== undefined && { ringSize: String(ringSize) }),
  }
}

export function arrayOf({ slots, next, ringSize }: PortableArray): ArrayValue {
  const array = new ArrayValue()
  let latest: ArrayIndex | undefined
  for (const [text, value] of slots) {
    const index = indexOf(text)
    if (latest !== undefined && index <= latest) throw new TypeError(`slot ${text} is out of order.`)
    latest = index
    array.set(index, bytesOf(value))
  }
  array.next = indexOf(next, noIndex)
  if (ringSize !== undefined) array.ringSize = indexOf(ringSize, noIndex)
  if (array.ringSize === 0) throw new TypeError('ringSize must be positive.')
  return array
}

function indexOf(text: string, most?: ArrayIndex): ArrayIndex {
  const index = parseIndex(utf8(text), most)
  if (index === undefined) throw new TypeError(`${JSON.stringify(text)} is not an index of an array.`)
  return index
}
