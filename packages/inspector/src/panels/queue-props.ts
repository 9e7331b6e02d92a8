import type { Control } from '../source.js'
import type { PageView } from '../view.js'
import type { Act } from './parts.js'

/** What every part of the queue's panel has. */
export interface QueueProps {
  readonly view: PageView
  /** Absent where one can only read: in a recording, and at an earlier instant. */
  readonly control: Control | undefined
  /** Virtual time at which one looks. */
  readonly now: number
  readonly act: Act
}

/** An order about something of the queue, in its region. */
export function queuePath(region: string | undefined, ...parts: readonly string[]): string {
  return inRegion(region, `/queue/${parts.map(encodeURIComponent).join('/')}`)
}

export function inRegion(region: string | undefined, path: string): string {
  return region === undefined ? path : `${path}?region=${encodeURIComponent(region)}`
}
