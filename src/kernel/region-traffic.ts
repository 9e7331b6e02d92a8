import type { Entry, EntryType, TrafficLog } from './traffic-log.js'
import { TrafficPart } from './traffic-part.js'

/**
 * Types of entries that the queue and the workflows of a region write. Entries of all other types belong to both
 * regions.
 */
const regional: ReadonlySet<EntryType> = new Set([
  'published',
  'attempt',
  'message',
  'dead-letter',
  'bulk-action',
  'workflow',
  'step',
  'wait',
  'notify',
  'invoke',
  'setting',
  'flow-control',
])

/**
 * Returns whether an entry belongs to the log of a region.
 * @param region name of the region; `undefined` for the home region
 */
export function isOfRegion(entry: Entry, region: string | undefined): boolean {
  return entry.region === region || (entry.region === undefined && !regional.has(entry.type))
}

/** Returns whether the type of an entry belongs to one region only. */
export function isRegional({ type }: Entry): boolean {
  return regional.has(type)
}

/**
 * The traffic log of one of two regions: entries of this region, and entries that belong to both regions. Entries of the
 * home region have no `region`.
 */
export class RegionTraffic extends TrafficPart {
  readonly #region: string | undefined
  protected readonly stamp: Pick<Entry, 'region'>

  constructor(log: TrafficLog, region: string | undefined) {
    super(log)
    this.#region = region
    this.stamp = region === undefined ? {} : { region }
  }

  protected has(entry: Entry): boolean {
    return isOfRegion(entry, this.#region)
  }
}
