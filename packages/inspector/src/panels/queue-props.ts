import type { Control } from '../source.js'
import type { PageView } from '../view.js'
import type { Act } from './parts.js'

/** Properties of every part of the queue's panel. */
export interface QueueProps {
  readonly view: PageView
  /** Absent if it is read-only: in a recording, and at an earlier instant. */
  readonly control: Control | undefined
  /** Virtual time that is shown. */
  readonly now: number
  readonly act: Act
}

/** Returns the path of a control operation of the queue, in its region. */
export function queuePath(region: string | undefined, ...parts: readonly string[]): string {
  return inRegion(region, `/queue/${parts.map(encodeURIComponent).join('/')}`)
}

export function inRegion(region: string | undefined, path: string): string {
  return region === undefined ? path : `${path}?region=${encodeURIComponent(region)}`
}
