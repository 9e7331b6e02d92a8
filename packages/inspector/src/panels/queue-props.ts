import type { Control } from '../source.js'
import type { PageView } from '../view.js'
import type { Act } from './parts.js'

export interface QueueProps {
  readonly view: PageView
  /** Absent if the queue is read-only, as in a recording or at an earlier instant. */
  readonly control: Control | undefined
  /** Virtual time of the shown instant. */
  readonly now: number
  readonly act: Act
}

/** Returns the path of a control operation for the queue of this region. */
export function queuePath(region: string | undefined, ...parts: readonly string[]): string {
  return inRegion(region, `/queue/${parts.map(encodeURIComponent).join('/')}`)
}

export function inRegion(region: string | undefined, path: string): string {
  return region === undefined ? path : `${path}?region=${encodeURIComponent(region)}`
}
