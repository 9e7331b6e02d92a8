import { didYouMean } from '../kernel/nearest-name.js'
import { RegionTraffic } from '../kernel/region-traffic.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { ResolvedPolicy } from '../policy/policy.js'
import { defaultRegion, type QueueRegion, queueRegions } from '../protocol/address.js'
import type { Service } from '../protocol/service.js'
import type { Queue } from '../queue/direct-queue.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { Workflow } from '../workflow/direct-workflows.js'

export interface Region {
  readonly name: QueueRegion
  readonly engine: QueueEngine
  readonly queue: Queue
  readonly workflow: Workflow
  readonly service: Service
}

export interface RegionPlan {
  readonly name: QueueRegion
  /**
   * Text that is added to the names of the region's random streams. It is empty for the home region, so that the draws
   * of the home region do not change when the second region is used.
   */
  readonly stream: string
  readonly traffic: TrafficLog
  /**
   * Returns the log that the region's queue reads. After the second region was created, this log has no entries of the
   * other region.
   */
  readonly read: () => TrafficLog
  readonly keys: SigningKeyPair
}

/**
 * Returns the name of the home region, which `sandbox.queue` uses: the region that accepts the token, or the default
 * region.
 */
export function homeRegionOf({ homeRegion }: ResolvedPolicy): QueueRegion {
  return queueRegions.find((name) => name === homeRegion) ?? defaultRegion
}

export function awayFrom(home: QueueRegion): QueueRegion {
  return queueRegions.find((name) => name !== home)!
}

/** Checks the name of a region. @throws RangeError when there is no such region */
export function checkedRegion(given: unknown): QueueRegion {
  const found = queueRegions.find((name) => name === given)
  if (found !== undefined) return found
  throw new RangeError(
    `There is no region ${JSON.stringify(given)}.${didYouMean(String(given), queueRegions)} The regions are ${queueRegions.join(', ')}.`,
  )
}

/**
 * The two regions of a sandbox. They share its clock, random source, destinations, faults and log.
 * Each is created when it is first used, because many sandboxes need no queue, and most never need the second region.
 */
export class Regions {
  readonly homeName: QueueRegion
  readonly #build: (plan: RegionPlan) => Region
  readonly #traffic: TrafficLog
  readonly #keysOf: (name: QueueRegion) => SigningKeyPair
  readonly #onSplit: (log: TrafficLog) => void
  #home: Region | undefined
  #away: Region | undefined
  #homeView: TrafficLog | undefined

  /** @param onSplit called when the second region is created, once per region, with the log of that region */
  constructor(
    home: QueueRegion,
    traffic: TrafficLog,
    keysOf: (name: QueueRegion) => SigningKeyPair,
    build: (plan: RegionPlan) => Region,
    onSplit: (log: TrafficLog) => void,
  ) {
    this.#onSplit = onSplit
    this.#build = build
    this.#traffic = traffic
    this.#keysOf = keysOf
    this.homeName = home
  }

  get home(): Region {
    this.#home ??= this.#build({
      name: this.homeName,
      stream: '',
      traffic: this.#traffic,
      read: () => this.#homeView ?? this.#traffic,
      keys: this.#keysOf(this.homeName),
    })
    return this.#home
  }

  /** The home region, and the second region if it was used. */
  get used(): readonly Region[] {
    return this.#away === undefined ? [this.home] : [this.home, this.#away]
  }

  /** Regions that exist: no request or test needed the others yet. */
  get created(): readonly Region[] {
    return [this.#home, this.#away].filter((region) => region !== undefined)
  }

  at(name: QueueRegion): Region {
    if (name === this.homeName) return this.home
    if (this.#away === undefined) {
      const traffic = new RegionTraffic(this.#traffic, name)
      this.#homeView = new RegionTraffic(this.#traffic, undefined)
      for (const log of [this.#homeView, traffic]) this.#onSplit(log)
      this.#away = this.#build({ name, stream: `/${name}`, traffic, read: () => traffic, keys: this.#keysOf(name) })
    }
    return this.#away
  }

  keysIn(name: QueueRegion): SigningKeyPair {
    return this.created.find((region) => region.name === name)?.engine.keys.pair() ?? this.#keysOf(name)
  }

  /** Every present and former signing key of both regions. */
  get secrets(): readonly string[] {
    return [this.homeName, awayFrom(this.homeName)].flatMap((name) => {
      const keys = this.created.find((region) => region.name === name)?.engine.keys
      if (keys !== undefined) return [keys.current, keys.next, ...keys.former]
      const { current, next } = this.#keysOf(name)
      return [current, next]
    })
  }

  get deadLetters(): number {
    return this.created.reduce((sum, { engine }) => sum + engine.courier.deadLetters.size, 0)
  }
}
