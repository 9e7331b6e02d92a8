/**
 * Converts instants to positions from 0 to 1, and back. With the kind `time`, distances are proportional to time, so
 * days without entries take up space. With the kind `steps`, adjacent instants always have the same distance.
 */
export interface Scale {
  readonly first: number
  readonly last: number
  place(at: number): number
  at(place: number): number
  /** Returns the nearest instant with an entry after `at`, or before it if the direction is -1. */
  neighbor(at: number, direction: 1 | -1): number
}

export type ScaleKind = 'steps' | 'time'

/** Creates a scale. @param instants instants with an entry, ascending, without duplicates */
export function scaleOf(kind: ScaleKind, instants: Float64Array): Scale {
  const first = instants[0] ?? 0
  const last = instants.at(-1) ?? first
  const neighbor = (at: number, direction: 1 | -1): number => {
    const before = countBefore(instants, at)
    const place = direction === -1 ? before - 1 : instants[before] === at ? before + 1 : before
    return instants[Math.min(instants.length - 1, Math.max(0, place))] ?? at
  }
  if (instants.length < 2) return { first, last, place: () => 0.5, at: () => first, neighbor }
  const limited = (at: number): number => Math.min(last, Math.max(first, at))
  if (kind === 'time') {
    const length = last - first
    return {
      first,
      last,
      place: (at) => (limited(at) - first) / length,
      at: (place) => first + Math.min(1, Math.max(0, place)) * length,
      neighbor,
    }
  }
  const steps = instants.length - 1
  return {
    first,
    last,
    place(given) {
      const at = limited(given)
      const low = Math.min(steps - 1, Math.max(0, countBefore(instants, at) - 1))
      return (low + (at - instants[low]!) / (instants[low + 1]! - instants[low]!)) / steps
    },
    at(place) {
      const step = Math.min(1, Math.max(0, place)) * steps
      const low = Math.min(steps - 1, Math.floor(step))
      return instants[low]! + (step - low) * (instants[low + 1]! - instants[low]!)
    },
    neighbor,
  }
}

/** Counts the instants that are earlier than `at`. */
function countBefore(instants: Float64Array, at: number): number {
  let low = 0
  let high = instants.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (instants[middle]! < at) low = middle + 1
    else high = middle
  }
  return low
}

export function distinct(instants: Float64Array): Float64Array {
  instants.sort()
  let size = 0
  for (const at of instants) if (size === 0 || at !== instants[size - 1]) instants[size++] = at
  return instants.slice(0, size)
}
