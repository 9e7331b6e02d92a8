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

/** The message queue of one region, and the runs of workflows on it. */
export interface Region {
  readonly name: QueueRegion
  readonly engine: QueueEngine
  readonly queue: Queue
  readonly workflow: Workflow
  readonly service: Service
}

/** What it takes to build a region. */
export interface RegionPlan {
  readonly name: QueueRegion
  /** Ends the names of its random streams: those of the home region are called as if there were no other. */
  readonly stream: string
  /** Where it writes. */
  readonly traffic: TrafficLog
  /** Where its queue is read: once there are two, without the entries of the other. */
  readonly read: () => TrafficLog
  readonly keys: SigningKeyPair
}

/** The region that `sandbox.queue` speaks of: the one that knows the token, else that of the plain address. */
export function homeRegionOf({ homeRegion }: ResolvedPolicy): QueueRegion {
  return queueRegions.find((name) => name === homeRegion) ?? defaultRegion
}

/** The other region. */
export function awayFrom(home: QueueRegion): QueueRegion {
  return queueRegions.find((name) => name !== home)!
}

/** @throws RangeError with the regions that there are */
export function checkedRegion(given: unknown): QueueRegion {
  const found = queueRegions.find((name) => name === given)
  if (found !== undefined) return found
  throw new RangeError(
    `There is no region ${JSON.stringify(given)}.${didYouMean(String(given), queueRegions)} The regions are ${queueRegions.join(', ')}.`,
  )
}

/**
 * The two regions of a world. They share its clock, chance, destinations, faults and log, and nothing else. The second
 * one is built when it is first asked for: most worlds never do.
 */
export class Regions {
  readonly home: Region
  readonly #build: (plan: RegionPlan) => Region
  readonly #traffic: TrafficLog
  readonly #keysOf: (name: QueueRegion) => SigningKeyPair
  /** Hears of the log of each region when there are two. */
  onSplit: (log: TrafficLog) => void = () => {}
  #away: Region | undefined
  #homeView: TrafficLog | undefined

  constructor(
    home: QueueRegion,
    traffic: TrafficLog,
    keysOf: (name: QueueRegion) => SigningKeyPair,
    build: (plan: RegionPlan) => Region,
  ) {
    this.#build = build
    this.#traffic = traffic
    this.#keysOf = keysOf
    this.home = build({ name: home, stream: '', traffic, read: () => this.#homeView ?? traffic, keys: keysOf(home) })
  }

  /** The regions that were asked for, home first. */
  get used(): readonly Region[] {
    return this.#away === undefined ? [this.home] : [this.home, this.#away]
  }

  at(name: QueueRegion): Region {
    if (name === this.home.name) return this.home
    if (this.#away === undefined) {
      const traffic = new RegionTraffic(this.#traffic, name)
      this.#homeView = new RegionTraffic(this.#traffic, undefined)
      for (const log of [this.#homeView, traffic]) this.onSplit(log)
      this.#away = this.#build({ name, stream: `/${name}`, traffic, read: () => traffic, keys: this.#keysOf(name) })
    }
    return this.#away
  }

  /** The keys with which deliveries of a region are signed now. */
  keysIn(name: QueueRegion): SigningKeyPair {
    return this.used.find((region) => region.name === name)?.engine.keys.pair() ?? this.#keysOf(name)
  }

  /** Every key of both regions, now or before. */
  get secrets(): readonly string[] {
    const built = this.used.flatMap(({ engine: { keys } }) => [keys.current, keys.next, ...keys.former])
    if (this.#away !== undefined) return built
    const { current, next } = this.#keysOf(awayFrom(this.home.name))
    return [...built, current, next]
  }

  get deadLetters(): number {
    return this.used.reduce((sum, { engine }) => sum + engine.courier.deadLetters.size, 0)
  }
}
