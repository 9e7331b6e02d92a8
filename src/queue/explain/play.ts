import { Heap, type Ranked } from '../../kernel/heap.js'
import type { Random } from '../../kernel/random.js'
import type { FlowControlLimits, PublishSettings } from '../settings/settings.js'
import { type Cause, Item, type KeyCopy, type LaneCopy } from './copies.js'

/** A schedule, as far as messages that wait meet what it publishes. */
export interface ScheduleCopy {
  readonly id: string
  readonly isPaused: boolean
  readonly next: Ranked | undefined
  slotAfter(at: number): number | undefined
  /** What each of its triggers publishes. */
  readonly publishes: readonly PublishSettings[]
}

/** A world that is played with: all that can meet. */
export interface CopiedWorld {
  readonly now: number
  readonly items: readonly Item[]
  /** When what waits for a time is due. */
  readonly timers: ReadonlyMap<Item, Ranked>
  readonly running: readonly Item[]
  /** Who waits for an answer that is outside of all lines. */
  readonly loose: readonly { readonly item: Item; readonly cause: Cause }[]
  readonly keys: Iterable<KeyCopy>
  readonly lanes: Iterable<LaneCopy>
  readonly schedules: readonly ScheduleCopy[]
  readonly downUntil: number
  readonly draws: Random | undefined
  /** Calls in flight, and how many there may be. */
  readonly plan: { inFlight: readonly Item[]; readonly most: number } | undefined
  keyOf(settings: PublishSettings): KeyCopy | undefined
  laneOf(settings: PublishSettings): LaneCopy | undefined
}

interface Happening extends Ranked {
  readonly isSlot: boolean
  run(at: number): void
}

/** Slots of schedules that are looked at: each is searched in a calendar. */
const mostSlots = 10_000

/**
 * Plays a copied world on as the engine would, with answers that are not known. What does not depend on them happens at
 * its time; what does is let happen as early as it can, and what that may touch is not known from then on.
 */
export class Play {
  readonly #world: CopiedWorld
  readonly #heap = new Heap<Happening>()
  /** Behind every timer of the clock. */
  #sequence = 2 ** 52
  #now: number
  /** Happenings that are no slots. */
  #open = 0
  #slots = 0
  readonly #calls: Item[]
  /** Why the plan allows nobody to call at a time that is known. */
  #planCause: Cause | undefined
  #possibleCalls = 0
  /** What calls at unknown times come from. */
  #disturbance: Cause | undefined
  /** Why the draws of wait lists are not known any more. */
  #unknownDraws: Cause | undefined
  readonly #awaited: Set<Item>

  constructor(world: CopiedWorld, awaited: Iterable<Item>) {
    this.#world = world
    this.#now = world.now
    this.#awaited = new Set(awaited)
    this.#calls = [...(world.plan?.inFlight ?? [])]
  }

  /** Until it is known of everybody who was asked for when his attempt starts, or that nobody can know. */
  run(): void {
    this.#begin()
    while (this.#awaited.size > 0 && this.#open > 0) {
      const next = this.#heap.pop()!
      if (!next.isSlot) this.#open--
      this.#now = Math.max(this.#now, next.at)
      next.run(this.#now)
    }
    for (const item of this.#awaited) this.#stopped(item)
  }

  #begin(): void {
    const { items, timers, keys, lanes, schedules, running, loose } = this.#world
    for (const item of items) {
      const timer = timers.get(item)
      if (timer !== undefined) this.#at(timer.at, (at) => this.#due(item, at), timer.sequence)
    }
    this.#findChanges()
    for (const { item, cause } of loose) this.#loosen(item, cause, Math.max(this.#now, item.notBefore))
    for (const schedule of schedules) this.#planSlot(schedule, schedule.next)
    for (const key of keys) this.#admit(key, this.#now)
    for (const item of running) {
      this.#awaited.delete(item)
      item.start = this.#now
      item.cause = { kind: 'answer', of: [item], first: true }
      this.#unleash(item, this.#now)
    }
    for (const lane of lanes) {
      for (const holder of lane.holding) if (holder.hasEnded && holder.openReports === 0) lane.holding.delete(holder)
      this.#admitToLane(lane, this.#now)
    }
  }

  /** Whose limits may become others. */
  #findChanges(): void {
    const { items, schedules } = this.#world
    const look = (settings: PublishSettings): void => {
      const limits = settings.flowControl?.limits
      const key = limits && this.#world.keyOf(settings)
      if (key !== undefined && differs(key, limits!)) key.mayChange = true
    }
    for (const { settings } of items) for (const [report] of reportsOf(settings, 1)) look(report)
    for (const { publishes } of schedules)
      for (const settings of publishes) {
        look(settings)
        for (const [report] of reportsOf(settings, 1)) look(report)
      }
  }

  #at(at: number, run: (at: number) => void, sequence: number = this.#sequence++, isSlot = false): void {
    if (!isSlot) this.#open++
    this.#heap.push({ at, sequence, isSlot, run })
  }

  /** Its time has come, or may have come. */
  #due(item: Item, at: number): void {
    const { lane } = item
    if (item.isCancelled) {
      if (item.isAdmitted) this.#release(item, at)
      this.#awaited.delete(item)
      this.#conclude(item, at)
    } else if (lane?.isPaused === true) {
      if (item.isAdmitted) this.#release(item, at)
      this.#block(item, { kind: 'pause', of: 'queue', name: lane.name }, at)
    } else if (at < this.#world.downUntil) this.#at(this.#world.downUntil, (later) => this.#due(item, later))
    else if (item.isAdmitted) this.#start(item, at)
    else this.#ask(item, at)
  }

  #ask(item: Item, at: number): void {
    const { key } = item
    if (key === undefined) this.#start(item, at)
    else if (key.isPaused) this.#block(item, { kind: 'pause', of: 'flowControlKey', name: key.name }, at)
    else if (item.cause !== undefined) this.#mayAsk(item, key, at)
    else if (key.fits(at)) this.#take(item, key, at)
    else if (key.loose !== undefined) {
      const ahead = this.#world.draws === undefined ? key.loose.ahead++ : 0
      key.disturb(at, key.loose.cause, 1)
      item.cause = key.loose.cause
      this.#nowOrLater(item, at, key.earliest(ahead))
    } else if (key.waiting === 0 && key.hasRoomOverdue(item)) {
      key.overdue!.room--
      key.running.add(item)
      this.#start(item, at)
    } else if (key.waiting > 0 || key.mayBeFull || !key.hasRate(at)) {
      key.enter(item)
      this.#admit(key, at)
    } else this.#take(item, key, at)
  }

  #take(item: Item, key: KeyCopy, at: number): void {
    key.take(item, at)
    this.#start(item, at)
  }

  /** Comes at an unknown time, behind those who are known to come before. */
  #mayAsk(item: Item, key: KeyCopy, at: number): void {
    this.#disturb(key, at, decidedBy(item), 1 + item.retriesLeft)
    const { lane } = item
    const passed = lane?.passed.get(key) ?? 0
    lane?.passed.set(key, passed + 1)
    // As many others of its queue may be beside it as there are slots.
    const before = Math.max(0, passed - ((lane?.parallelism ?? 1) - 1))
    const ahead = this.#world.draws === undefined ? key.loose!.ahead + before : 0
    this.#nowOrLater(item, at, key.earliest(ahead))
  }

  /** It has asked, and may have been let in at once. */
  #nowOrLater(item: Item, at: number, earliest: number): void {
    if (earliest > at) this.#later(item, earliest)
    else this.#start(item, at)
  }

  #later(item: Item, at: number): void {
    item.key?.unknown.add(item)
    this.#at(at, (then) => this.#start(item, then))
  }

  #admit(key: KeyCopy, at: number): void {
    if (key.isPaused) {
      const cause: Cause = { kind: 'pause', of: 'flowControlKey', name: key.name }
      for (let item = key.next(); item !== undefined; item = key.next()) this.#block(item, cause, at)
      return
    }
    while (key.waiting > 0 && key.hasRate(at)) {
      if (key.mayBeFull) {
        this.#harden(key, at, { kind: 'answer', of: [...key.running], first: !key.mayChange })
        return
      }
      const { draws } = this.#world
      if (draws !== undefined && this.#unknownDraws !== undefined && (key.line.length > 1 || key.loose !== undefined)) {
        this.#harden(key, at, this.#unknownDraws)
        return
      }
      if (draws !== undefined && key.line.length > 1) key.line.promote(draws.int(key.line.length))
      const item = key.next()!
      key.take(item, at)
      this.#call(item)
      item.isAdmitted = true
      this.#at(at, (then) => this.#due(item, then))
    }
    if (key.waiting === 0 || key.wakesAt === key.periodEnd) return
    const end = key.periodEnd
    key.wakesAt = end
    this.#at(Math.max(at, end), (then) => {
      if (key.wakesAt !== end) return
      key.wakesAt = undefined
      this.#admit(key, then)
    })
  }

  /** It is not known any more when those in line start. */
  #harden(key: KeyCopy, at: number, cause: Cause, hasUnknownLimits = false): void {
    key.harden(at, cause, hasUnknownLimits)
    if (hasUnknownLimits) {
      // With other limits nobody needs to wait for a slot or a period.
      for (const item of key.unknown) this.#later(item, at)
    }
    if (this.#world.draws !== undefined) this.#unknownDraws ??= cause
    for (let item = key.next(); item !== undefined; item = key.next()) {
      const ahead = this.#world.draws === undefined ? key.loose!.ahead++ : 0
      this.#loosen(item, cause, Math.max(at, key.earliest(ahead)))
    }
  }

  #disturb(key: KeyCopy, at: number, cause: Cause, calls: number): void {
    key.disturb(at, cause, calls)
    if (this.#world.draws !== undefined) this.#unknownDraws ??= cause
  }

  /** Its start depends on an answer, and can be no earlier. */
  #loosen(item: Item, cause: Cause, at: number): void {
    item.cause = cause
    this.#later(item, Math.max(at, this.#world.downUntil))
  }

  /** A pause without an end holds it. */
  #block(item: Item, cause: Cause, at: number): void {
    item.cause = cause
    this.#know(item, Math.max(at, item.notBefore))
  }

  #know(item: Item, start: number): void {
    item.start = start
    this.#awaited.delete(item)
  }

  #start(item: Item, at: number): void {
    if (item.start !== undefined) return
    item.key?.unknown.delete(item)
    if (!item.isAdmitted) this.#call(item)
    this.#know(item, at)
    this.#unleash(item, at)
  }

  /** Takes one of the calls that the plan allows, where it is enforced. */
  #call(item: Item): void {
    const { plan } = this.#world
    if (plan === undefined || item.cause !== undefined) return
    const calls = this.#calls.length
    if (calls >= plan.most) this.#planCause ??= { kind: 'answer', of: [...this.#calls], first: true }
    item.cause = this.#planCause ?? (calls + this.#possibleCalls < plan.most ? undefined : this.#disturbance)
    if (item.cause === undefined) this.#calls.push(item)
  }

  /** Calls may be made that the plan counts, at times that nobody knows. */
  #mayCall(item: Item, cause: Cause): void {
    if (this.#world.plan === undefined) return
    let calls = item.retriesLeft + (item.cause === undefined ? 0 : 1)
    for (const [{ retries }, times] of reportsOf(item.settings, item.retriesLeft + 1)) calls += times * (retries + 1)
    this.#possibleCalls += calls
    if (calls > 0) this.#disturbance ??= cause
  }

  /** It may have answered from now on: what follows is not known. */
  #unleash(item: Item, at: number): void {
    const { key, lane, settings, source } = item
    const cause = decidedBy(item)
    this.#mayCall(item, cause)
    if (!item.isCancelled) {
      if (key !== undefined && item.retriesLeft > 0)
        this.#at(at, (then) => this.#disturb(key, then, cause, item.retriesLeft))
      for (const [report, times] of reportsOf(settings, item.retriesLeft + 1)) this.#mayReport(report, times, at, cause)
    }
    if (lane !== undefined) this.#mayLeave(item, lane, at)
    if (source === undefined) return
    source.unmadeReports--
    if (source.hasEnded && source.unmadeReports === 0 && source.lane !== undefined)
      this.#mayLeave(source, source.lane, at)
  }

  /** A callback may be published from now on. */
  #mayReport(settings: PublishSettings, times: number, at: number, cause: Cause): void {
    const key = this.#world.keyOf(settings)
    if (key === undefined) return
    const { limits } = settings.flowControl!
    if (limits !== undefined) {
      key.strangeLimits.push({ limits, cause })
      if (differs(key, limits)) this.#harden(key, at, cause, true)
    }
    const from = Math.max(at, settings.notBefore ?? at + settings.delay)
    this.#at(from, (then) => this.#disturb(key, then, cause, times * (settings.retries + 1)))
  }

  /** Whoever holds a slot may have ended: the next in line may be there. */
  #mayLeave(item: Item, lane: LaneCopy, at: number): void {
    if (!lane.holding.has(item)) return
    lane.cause ??= answersOf(lane)
    lane.holding.delete(item)
    this.#admitToLane(lane, at)
  }

  #admitToLane(lane: LaneCopy, at: number): void {
    while (!lane.isPaused && lane.holding.size < lane.parallelism) {
      const item = lane.line.shift()
      if (item === undefined) return
      lane.holding.add(item)
      if (item.cause === undefined) item.cause = lane.cause
      this.#at(Math.max(at, item.notBefore), (then) => this.#due(item, then))
    }
  }

  /** A slot of a key is free again, for certain. */
  #release(item: Item, at: number): void {
    item.isAdmitted = false
    if (item.key?.running.delete(item) === true) this.#admit(item.key, at)
  }

  /** It has ended, for certain. */
  #conclude(item: Item, at: number): void {
    item.hasEnded = true
    if (item.openReports > 0) return
    const { lane, source } = item
    if (lane?.holding.delete(item) === true) this.#admitToLane(lane, at)
    if (source === undefined) return
    source.openReports--
    source.unmadeReports--
    if (source.hasEnded && source.openReports === 0) this.#conclude(source, at)
    else if (source.hasEnded && source.unmadeReports === 0 && source.lane !== undefined)
      this.#mayLeave(source, source.lane, at)
  }

  #planSlot(schedule: ScheduleCopy, next: Ranked | undefined): void {
    if (next === undefined || schedule.isPaused) return
    this.#at(next.at, (at) => this.#slot(schedule, next.at, at), next.sequence, true)
  }

  #slot(schedule: ScheduleCopy, slot: number, at: number): void {
    const { downUntil } = this.#world
    if (at < downUntil) this.#at(downUntil, (then) => this.#publish(schedule, then))
    else this.#publish(schedule, at)
    const next = ++this.#slots < mostSlots ? schedule.slotAfter(Math.max(slot, at)) : undefined
    if (next !== undefined) this.#planSlot(schedule, { at: next, sequence: this.#sequence++ })
    if (this.#slots < mostSlots) return
    // Too far ahead: whatever it publishes may come at any time.
    const items = schedule.publishes.map((settings) => this.#item(schedule, settings, at))
    for (const { key } of items)
      if (key !== undefined)
        this.#disturb(key, at, { kind: 'answer', of: items, first: false }, Number.POSITIVE_INFINITY)
  }

  #item(schedule: ScheduleCopy, settings: PublishSettings, at: number): Item {
    const notBefore = Math.max(at, settings.notBefore ?? at + settings.delay)
    const item = new Item(undefined, settings, notBefore, settings.retries, schedule.id)
    item.key = this.#world.keyOf(settings)
    item.lane = this.#world.laneOf(settings)
    return item
  }

  #publish(schedule: ScheduleCopy, at: number): void {
    for (const settings of schedule.publishes) {
      const item = this.#item(schedule, settings, at)
      const { key, lane } = item
      const limits = settings.flowControl?.limits
      if (key !== undefined && limits !== undefined) this.#configure(key, limits, at)
      if (lane === undefined) this.#at(item.notBefore, (then) => this.#due(item, then))
      else {
        lane.line.push(item)
        this.#admitToLane(lane, at)
      }
    }
  }

  /** A message brings limits to its key. */
  #configure(key: KeyCopy, limits: FlowControlLimits, at: number): void {
    const changes = differs(key, limits)
    if (!key.pinnedParallelism) key.parallelismMax = limits.parallelism
    if (!key.pinnedRate) {
      if (at >= key.periodEnd) key.periodStart = undefined
      key.rateMax = limits.rate
      key.period = limits.period * 1000
    }
    const strange = key.strangeLimits.find((other) => differs(key, other.limits))
    if (strange !== undefined) this.#harden(key, at, strange.cause, true)
    else if (changes && key.loose !== undefined) this.#harden(key, at, key.loose.cause, true)
    else this.#admit(key, at)
  }

  /** Nothing will come to it any more: a pause without an end holds whoever is before it. */
  #stopped(item: Item): void {
    const cause = blockade(item)
    if (cause !== undefined) this.#block(item, cause, this.#world.now)
  }
}

/** The answers that decide what a message does to others. */
function decidedBy(item: Item): Cause {
  return { kind: 'answer', of: item.cause?.kind === 'answer' ? item.cause.of : [item], first: false }
}

/** Whose answers free a slot; one that was cancelled does so without an answer. */
function answersOf({ holding }: LaneCopy): Cause {
  const all = [...holding].flatMap((item) => (item.hasEnded ? item.reports : [item]))
  const of = all.filter((item) => !item.isCancelled || item.message?.running === true)
  return { kind: 'answer', of, first: of.length === all.length }
}

/** Why a message that stands in a queue never gets its turn. */
function blockade({ lane }: Item): Cause | undefined {
  if (lane === undefined) return undefined
  if (lane.isPaused) return { kind: 'pause', of: 'queue', name: lane.name }
  for (const holder of lane.holding) if (holder.cause?.kind === 'pause') return holder.cause
  return undefined
}

/** Everything that may be published about a message, and how often. */
function* reportsOf(
  { callback, failureCallback }: PublishSettings,
  attempts: number,
): Generator<readonly [PublishSettings, times: number]> {
  for (const [report, times] of [
    [callback, attempts],
    [failureCallback, 1],
  ] as const) {
    if (report === undefined) continue
    yield [report.settings, times]
    for (const [further, more] of reportsOf(report.settings, report.settings.retries + 1)) yield [further, more * times]
  }
}

function differs(key: KeyCopy, { parallelism, rate, period }: FlowControlLimits): boolean {
  if (!key.pinnedParallelism && key.parallelismMax !== parallelism) return true
  return !key.pinnedRate && (key.rateMax !== rate || key.period !== period * 1000)
}
