import { latin1 } from '../../kernel/bytes.js'
import type { Reply } from '../command/reply.js'
import { formatDecimal } from '../command/text.js'
import type { ArrayIndex, ArrayValue } from '../values/array-value.js'

// Figures of ARINFO about the slices of redis-server, computed from the filled slots. [array.md 2]

const sliceSize = 4096
/** Maximum number of slices in one directory of this estimate. More slices need a directory of directories. */
const directoryRoom = 4096
/** If a slice has more values than this, redis-server stores it as a plain list of slots. */
const sparseRoom = 10

export function figuresOf(array: ArrayValue, isFull: boolean): Readonly<Record<string, Reply>> {
  const { sizes, highest, directories } = slicesOf(array)
  let directorySize = 1
  while (directorySize <= highest && directorySize < directoryRoom) directorySize *= 2
  const figures = {
    slices: sizes.length,
    'directory-size': directorySize,
    'super-dir-entries': highest < directoryRoom ? 0 : directories,
    'slice-size': sliceSize,
  }
  if (!isFull) return figures
  const dense = sizes.filter((size) => size > sparseRoom)
  const sparse = sizes.filter((size) => size <= sparseRoom)
  return {
    ...figures,
    'dense-slices': dense.length,
    'sparse-slices': sparse.length,
    'avg-dense-size': average(dense),
    'avg-dense-fill': average(dense.map((size) => size / sliceSize)),
    'avg-sparse-size': average(sparse),
  }
}

interface Slices {
  /** Number of values in each slice that has values, in ascending order of the slices. */
  readonly sizes: readonly number[]
  /** Number of the highest slice. */
  readonly highest: number
  /** Number of directories that have slices. */
  readonly directories: number
}

function slicesOf(array: ArrayValue): Slices {
  const sizes: number[] = []
  let highest = -1
  let directories = 0
  array.walk((_, index) => {
    const slice = sliceOf(index)
    if (slice === highest) {
      sizes[sizes.length - 1]!++
      return
    }
    if (highest < 0 || Math.floor(slice / directoryRoom) !== Math.floor(highest / directoryRoom)) directories++
    sizes.push(1)
    highest = slice
  })
  return { sizes, highest, directories }
}

/** Returns the number of a slice, which is below 2^52 and therefore always exact. */
function sliceOf(index: ArrayIndex): number {
  return typeof index === 'number' ? Math.floor(index / sliceSize) : Number(index / BigInt(sliceSize))
}

function average(sizes: readonly number[]): Reply {
  const sum = sizes.reduce((total, size) => total + size, 0)
  return latin1(formatDecimal(sizes.length === 0 ? 0 : sum / sizes.length))
}
