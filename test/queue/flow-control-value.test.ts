import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FlowControl } from '../../src/queue/delivery/flow-control.js'
import type { FlowCaller, FlowKey } from '../../src/queue/delivery/flow-key.js'
import { FifoQueue } from '../../src/queue/message/fifo-queue.js'
import { runs } from '../support/effort.js'

// Compares flow control and FIFO queues as values with a model that only counts.

interface Call extends FlowCaller {
  readonly name: string
}

const keyNames = ['a', 'b'] as const
const keyName = fc.constantFrom(...keyNames)
const small = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined })
const which = fc.nat(50)

const steps = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), key: fc.option(keyName, { nil: undefined }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('release' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.nat(12) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('pause' as const, 'resume' as const, 'restart' as const),
      key: keyName,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('limit' as const, 'pin' as const),
      key: keyName,
      parallelism: small,
      rate: small,
      period: fc.constantFrom(1, 10),
    }),
  },
)
type FlowStep = typeof steps extends fc.Arbitrary<infer T> ? T : never

const programs = fc.record({
  globalMax: fc.constantFrom(undefined, 2, 4),
  program: fc.array(steps, { maxLength: 60 }),
  shuffled: fc.boolean(),
})

/** Plays steps as the delivery scheduler does, and tracks independently which messages run and which are held. */
class World {
  readonly running = new Set<Call>()
  readonly held = new Map<Call, 'key' | 'plan'>()
  readonly log: string[] = []
  now = 0
  #seq = 0
  #draw = 0

  constructor(
    public flow: FlowControl<Call>,
    readonly shuffled: boolean,
  ) {}

  step(step: FlowStep): void {
    if (step.do === 'ask') this.#ask(step.key)
    else if (step.do === 'wait') {
      this.now += step.seconds * 1000
      for (const key of this.flow.keys.values()) this.#admit(key)
    } else if (step.do === 'release') {
      const caller = [...this.running][step.which % Math.max(1, this.running.size)]
      if (caller !== undefined) this.#release(caller)
    } else if (step.do === 'leave') {
      const [caller, by] = [...this.held][step.which % Math.max(1, this.held.size)] ?? []
      if (caller !== undefined) this.#leave(caller, by!)
    } else this.#change(step)
  }

  #change(step: FlowStep & { readonly key: string }): void {
    const key = this.flow.keyOf(step.key)
    if (step.do === 'pause') this.flow.pause(step.key)
    else if (step.do === 'resume') this.flow.resume(step.key)
    else if (step.do === 'restart') key.restartPeriod(this.now, key.rateLeft(this.now))
    else if (step.do === 'pin') key.pin(step)
    else if (step.do === 'limit') {
      const { parallelism, rate, period } = step
      key.limit({ parallelism, rate, period }, this.now)
    }
    this.#admit(key)
  }

  #ask(name: string | undefined): void {
    const seq = ++this.#seq
    const settings = { flowControl: name === undefined ? undefined : { key: name, limits: undefined } }
    const caller: Call = { name: `call ${seq}`, seq, nextAttemptAt: this.now, awaited: true, settings }
    const key = this.flow.keyOfCaller(caller)
    if (key !== undefined) key.latestSeq = seq
    const holding = this.flow.ask(caller, this.now, true)
    this.log.push(`${caller.name} ${holding?.reason ?? 'starts'}`)
    if (key !== undefined && holding?.by !== 'key') this.#hasSlot(key)
    if (holding === undefined) this.#starts(caller)
    else this.held.set(caller, holding.by)
    if (holding?.by === 'key') this.#admit(key!)
  }

  #starts(caller: Call): void {
    expect(this.running.has(caller)).toBe(false)
    this.running.add(caller)
    this.held.delete(caller)
    expect(this.running.size).toBeLessThanOrEqual(this.flow.globalMax ?? Number.POSITIVE_INFINITY)
  }

  /**
   * The message has its slot of the key. If it waits for the plan, it keeps this slot regardless of changes to the key.
   */
  #hasSlot({ paused, parallelismCount, parallelismMax }: FlowKey<Call>): void {
    expect(paused).toBe(false)
    expect(parallelismCount).toBeLessThanOrEqual(parallelismMax ?? Number.POSITIVE_INFINITY)
  }

  #admit(key: FlowKey<Call>): void {
    while (key.mayAdmit(this.now)) {
      this.#draw += 7
      if (this.shuffled && key.held.places > 1) key.held.promote(this.#draw % key.held.places)
      const caller = key.admit(this.now)
      if (caller === undefined) continue
      expect(this.held.get(caller)).toBe('key')
      this.#hasSlot(key)
      const holding = this.flow.askPlan(caller)
      this.log.push(`${caller.name} admitted ${holding?.reason ?? ''}`)
      if (holding === undefined) this.#starts(caller)
      else this.held.set(caller, 'plan')
    }
    const wake = key.wakeAt(this.now)
    if (wake !== undefined) expect(wake).toBeGreaterThanOrEqual(this.now)
  }

  #release(caller: Call): void {
    this.running.delete(caller)
    this.flow.release(caller)
    const key = this.flow.keyOfCaller(caller)
    if (key !== undefined) this.#admit(key)
    for (let one = this.flow.admitByPlan(); one !== undefined; one = this.flow.admitByPlan()) {
      this.log.push(`${one.name} admitted by the plan`)
      this.#starts(one)
    }
  }

  #leave(caller: Call, by: 'key' | 'plan'): void {
    this.held.delete(caller)
    const key = this.flow.leave(caller, by)
    if (key !== undefined) this.#admit(key)
  }

  /** Checks that the value contains exactly the messages of the model: no slot is lost, and none is used twice. */
  check(): void {
    const { flow } = this
    expect(flow.inFlight).toBe(this.running.size)
    expect(new Set(flow.held())).toEqual(new Set(this.held.keys()))
    for (const key of flow.keys.values()) {
      const ofKey = (caller: Call): boolean => caller.settings.flowControl?.key === key.key
      const byPlan = [...this.held].flatMap(([caller, by]) => (by === 'plan' ? [caller] : []))
      expect(new Set(key.running)).toEqual(new Set([...this.running, ...byPlan].filter(ofKey)))
      // No held message could start.
      expect(key.mayAdmit(this.now)).toBe(false)
    }
    const isFull = flow.globalMax !== undefined && flow.inFlight >= flow.globalMax
    expect(flow.heldByPlan.size > 0 && !isFull).toBe(false)
  }
}

/** Returns all visible state of a value. */
const seen = (flow: FlowControl<Call>): unknown => [
  flow.inFlight,
  flow.heldByPlan.all(),
  flow.heldByPlan.places,
  [...flow.keys].map(([name, { held, running, ...key }]) => [name, key, [...running], held.all(), held.places]),
]

describe('flow control as a value', () => {
  test('loses no slot, uses none twice, and never exceeds the parallelism', () => {
    fc.assert(
      fc.property(programs, ({ globalMax, program, shuffled }) => {
        const world = new World(new FlowControl(globalMax), shuffled)
        for (const step of program) {
          world.step(step)
          world.check()
        }
      }),
      { numRuns: runs(1000, 3000, 30_000) },
    )
  })

  test('starts no more deliveries in a period than the rate allows', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 60 }), ([...program]) => {
        const world = new World(new FlowControl(undefined), false)
        world.flow.keyOf('a').limit({ parallelism: undefined, rate: 2, period: 10 }, 0)
        const starts: number[] = []
        const calm = program.filter((step) => !['limit', 'pin', 'restart'].includes(step.do))
        for (const step of calm) {
          const before = new Set(world.running)
          world.step(step)
          for (const caller of world.running)
            if (!before.has(caller) && caller.settings.flowControl?.key === 'a')
              starts.push(world.flow.keyOf('a').ratePeriodStart!)
        }
        for (const start of starts) expect(starts.filter((one) => one === start).length).toBeLessThanOrEqual(2)
      }),
      { numRuns: runs(500, 1000, 10_000) },
    )
  })

  test('has a copy that equals it, acts alike, and shares no state', () => {
    fc.assert(
      fc.property(programs, fc.nat(60), ({ globalMax, program, shuffled }, at) => {
        const world = new World(new FlowControl(globalMax), shuffled)
        const twin = new World(new FlowControl(globalMax), shuffled)
        for (const step of program.slice(0, at)) for (const one of [world, twin]) one.step(step)
        const same = new Map([...world.running, ...world.held.keys()].map((caller) => [caller.name, caller]))
        const before = seen(world.flow)
        twin.flow = twin.flow.copy((caller) => same.get(caller.name)!)
        expect(seen(twin.flow)).toEqual(before)
        const copy = world.flow.copy((caller) => caller)
        for (const key of copy.keys.values()) while (key.mayAdmit(1e9)) key.admit(1e9)
        copy.pause('a')
        expect(seen(world.flow)).toEqual(before)
      }),
      { numRuns: runs(500, 1000, 10_000) },
    )
  })
})

describe('a FIFO queue as a value', () => {
  const laneSteps = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('enter' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pause' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('resume' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('widen' as const), slots: fc.integer({ min: 1, max: 4 }) }) },
  )
  interface Member {
    readonly n: number
    visible: boolean
    readonly awaited: boolean
  }

  test('admits messages in order, each once, and never more than it has slots', () => {
    fc.assert(
      fc.property(fc.array(laneSteps, { maxLength: 60 }), (program) => {
        const lane = new FifoQueue<Member>('q', 0)
        const entered: Member[] = []
        const admitted: number[] = []
        for (const step of program) {
          if (step.do === 'enter') {
            entered.push({ n: entered.length, visible: true, awaited: true })
            lane.enter(entered.at(-1)!)
          } else if (step.do === 'pause' || step.do === 'resume') lane.paused = step.do === 'pause'
          else if (step.do === 'widen') lane.parallelism = step.slots
          else if (step.do === 'release') {
            const holder = [...lane.holding][step.which % Math.max(1, lane.holding.size)]
            if (holder !== undefined) expect(lane.release(holder)).toBe(true)
          } else {
            const waiting = lane.waiting()
            const member = waiting[step.which % Math.max(1, waiting.length)]
            if (member !== undefined) member.visible = false
          }
          const copy = lane.copy((member) => member)
          expect(copy).toEqual(lane)
          expect(copy.waiting()).toEqual(lane.waiting())
          for (let one = lane.admit(); one !== undefined; one = lane.admit()) {
            admitted.push(one.n)
            expect(copy.admit()).toBe(one)
            expect(lane.holding.size).toBeLessThanOrEqual(lane.parallelism)
          }
          expect(lane.paused || lane.waiting().length === 0 || lane.holding.size >= lane.parallelism).toBe(true)
        }
        expect(admitted).toEqual([...new Set(admitted)].sort((a, b) => a - b))
      }),
      { numRuns: runs(1000, 2000, 20_000) },
    )
  })
})
