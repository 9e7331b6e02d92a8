import type { FaultOf } from './fault.js'

/** Returns the milliseconds of a latency. Jitter and ranges are drawn from the seed. */
export function waitOf(fault: FaultOf<'latency'>, draw: (below: number) => number): number {
  if ('minMs' in fault) return between(fault.minMs, fault.maxMs, draw)
  const { waitMs, jitterMs = 0 } = fault
  return between(Math.max(0, waitMs - jitterMs), waitMs + jitterMs, draw)
}

function between(least: number, most: number, draw: (below: number) => number): number {
  const room = Math.floor(most - least)
  return room === 0 ? least : least + draw(Math.min(room + 1, 0x1_0000_0000))
}
