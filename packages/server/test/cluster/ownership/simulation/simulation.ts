import { createRandom, type Random } from '../../../../../../src/kernel/random.js'
import { breachesOf, type Done } from './invariants.js'
import { SimClock } from './sim-clock.js'
import { SimEngine } from './sim-engine.js'
import { type Forwarded, type Operation, SimNode } from './sim-node.js'
import { SimProcess } from './sim-process.js'

// Three nodes, four clients and a Redis on one clock. First everything fails that can, then nothing does, and all
// invariants must hold.

const tenants = ['t0', 't1', 't2']
const troubled = 20_000
const calm = 12_000
/** Timeout of a client. */
const patience = 6_000

export interface Simulated {
  /** Events in order. The same seed gives the same events, byte for byte. */
  readonly history: string
  readonly breaches: readonly string[]
  readonly counts: Readonly<Record<string, number>>
}

export interface Mistakes {
  /** Returns another source for a script of this name. */
  readonly script?: (name: string, source: string) => string
}

export async function simulate(seed: number, { script = (_, source) => source }: Mistakes = {}): Promise<Simulated> {
  const simulation = new Simulation(seed, script)
  await simulation.run()
  return simulation.result()
}

class Simulation {
  readonly #clock = new SimClock()
  readonly #random: Random
  readonly #engine: SimEngine
  readonly #nodes: SimNode[] = []
  readonly #lines: string[] = []
  readonly #breaches = new Set<string>()
  readonly #done: Done[] = []
  /** Work done outside, by the write that ordered it. */
  readonly #outside = new Map<string, number>()
  #writes = 0
  #starts = 0
  #messages = 0
  #isTroubled = true

  constructor(seed: number, mutate: (name: string, source: string) => string) {
    this.#random = createRandom(`cluster-${seed}`)
    this.#engine = new SimEngine({
      clock: this.#clock,
      random: this.#random.fork('network'),
      tell: (line) => this.#tell(line),
      breach: (what) => this.#breach(what),
      mutate,
    })
  }

  async run(): Promise<void> {
    for (let at = 0; at < 3; at++) this.#start(at)
    for (let at = 0; at < 4; at++) void this.#client(at, this.#random.fork(`client ${at}`))
    this.#trouble(this.#random.fork('trouble'))
    await this.#clock.runUntil(troubled)
    this.#heal()
    // Without requests, orphans must be found and their work done.
    await this.#clock.runUntil(troubled + calm)
    this.#promises()
    await this.#lastReads()
    const [first] = this.#nodes
    void first!.ownership.close()
    await this.#clock.runUntil(this.#clock.now + 1_000)
    first!.process.die()
    await this.#lastReads()
  }

  result(): Simulated {
    const breaches = [...this.#breaches, ...breachesOf(this.#engine, this.#done)]
    const answers = { done: 0, 'not done': 0, perhaps: 0 }
    for (const { outcome } of this.#done) answers[typeof outcome === 'object' ? 'done' : outcome]++
    return { history: this.#lines.join('\n'), breaches, counts: { ...this.#engine.counts, ...answers } }
  }

  #tell(line: string): void {
    this.#lines.push(`${this.#clock.now.toFixed(3)} ${line}`)
  }

  #breach(what: string): void {
    this.#tell(`BREACH ${what}`)
    this.#breaches.add(what)
  }

  #start(place: number): void {
    const id = `n${place}-${this.#starts++}`
    const process = new SimProcess(this.#clock, this.#random.fork(id))
    this.#tell(`${id} starts`)
    this.#nodes[place] = new SimNode({
      ...{ id, process, engine: this.#engine },
      tell: (line) => this.#tell(line),
      breach: (what) => this.#breach(what),
      outside: (node, tenant, order) => this.#workOutside(process, node, tenant, order),
      forward: (from, address, operation) => this.#forward(from, address, operation),
    })
  }

  /** Checks that the journal contains work before it is done outside. */
  #workOutside(process: SimProcess, node: string, tenant: string, order: string): boolean {
    if (!process.acts()) return false
    const records = this.#engine.journals.get(tenant) ?? []
    if (!records.some(({ text }) => text.includes(`"write":"${order}"`)))
      this.#breach(`${node} does what ${order} ordered before it is in the journal of ${tenant}`)
    this.#outside.set(order, (this.#outside.get(order) ?? 0) + 1)
    this.#tell(`${node} does what ${order} ordered`)
    return true
  }

  #forward(from: SimProcess, address: string, operation: Operation): Promise<Forwarded> {
    return new Promise((resolve) => {
      if (!from.acts()) return
      const give = from.after(2_000, () => resolve('perhaps'))
      const answer = (outcome: Forwarded): void =>
        from.happen(() => {
          give()
          resolve(outcome)
        })
      this.#send(address, operation, true, answer)
    })
  }

  /** Sends over the network, which loses messages during disruptions. */
  #send(id: string, operation: Operation, isForwarded: boolean, answer: (outcome: Forwarded) => void): void {
    const random = this.#random.fork(`message ${this.#messages++}`)
    const later = (run: () => void): void => {
      if (!this.#isTroubled || random.int(100) > 0) this.#clock.after(0.3 + random.float() * 4, run)
    }
    later(() => {
      const node = this.#nodes.find((each) => each.id === id)
      if (node === undefined || node.process.isDead) return later(() => answer('refused'))
      node.process.happen(() => void node.serve(operation, isForwarded).then((outcome) => later(() => answer(outcome))))
    })
  }

  async #client(at: number, random: Random): Promise<void> {
    while (this.#isTroubled) {
      await this.#pause(random.int(250))
      const write = random.int(10) < 6 ? `w${this.#writes++}` : undefined
      const tenant = tenants[random.int(tenants.length)]!
      const node = this.#nodes[random.int(this.#nodes.length)]!
      const operation = { tenant, write, orders: write !== undefined && random.int(4) === 0 }
      await this.#ask(`c${at}`, node, operation)
    }
  }

  async #ask(client: string, node: SimNode, operation: Operation): Promise<Forwarded> {
    const begun = this.#clock.now
    const outcome = await new Promise<Forwarded>((resolve) => {
      this.#clock.after(patience, () => resolve('perhaps'))
      this.#send(node.id, operation, false, resolve)
    })
    const shown = typeof outcome === 'object' ? `${outcome.length} ${outcome.digest}` : outcome
    this.#tell(`${client} ${operation.write ?? 'reads'} ${operation.tenant} by ${node.id}: ${shown}`)
    const told = outcome === 'refused' || outcome === 'misdirected' ? 'not done' : outcome
    this.#done.push({ ...operation, begun, ended: this.#clock.now, outcome: told })
    return outcome
  }

  /** Causes one disruption after another, some of them at the same time. */
  #trouble(random: Random): void {
    if (!this.#isTroubled) return
    const place = random.int(3)
    const { process, id } = this.#nodes[place]!
    const length = [100, 600, 1_800, 4_000][random.int(4)]! * (0.5 + random.float())
    const kind = kinds[random.int(kinds.length)]!
    this.#tell(`trouble: ${kind} of ${id} for ${length.toFixed(0)}`)
    const over = (run: () => void): void => void this.#clock.after(length, run)
    switch (kind) {
      case 'death':
        process.die(random.int(200))
        // The process also ends if it made fewer calls.
        over(() => {
          process.die()
          if (this.#nodes[place]!.process === process) this.#start(place)
        })
        break
      case 'end':
        void this.#nodes[place]!.ownership.close()
        this.#clock.after(length + 1_500, () => {
          process.die()
          if (this.#nodes[place]!.process === process) this.#start(place)
        })
        break
      case 'frost':
        process.freeze(random.int(2) * random.int(40))
        over(() => process.resume())
        break
      case 'deafness':
        process.hears = false
        over(() => {
          process.hears = true
        })
        break
      case 'silence':
        process.speaks = false
        over(() => {
          process.speaks = true
        })
        break
      case 'restart of the engine':
        this.#engine.isDown = true
        over(() => {
          this.#engine.isDown = false
        })
        break
      case 'loss':
        this.#engine.loss = 2 + random.int(30)
        over(() => {
          this.#engine.loss = 0
        })
        break
      case 'slowness':
        this.#engine.slowness = 1 + random.int(60)
        over(() => {
          this.#engine.slowness = 1
        })
        break
      case 'clock':
        process.jump(random.int(20_000) - 10_000)
        break
    }
    this.#clock.after(200 + random.int(1_500), () => this.#trouble(random))
  }

  #heal(): void {
    this.#isTroubled = false
    this.#tell('no trouble from here on')
    Object.assign(this.#engine, { isDown: false, isCalm: true, loss: 0 })
    for (const [place, { process }] of this.#nodes.entries()) {
      Object.assign(process, { hears: true, speaks: true })
      process.resume()
      if (place === 0 || process.isDead) {
        process.die()
        this.#start(place)
      }
    }
  }

  /** Checks that all work that a journal orders was done. */
  #promises(): void {
    for (const [tenant, records] of this.#engine.journals) {
      const texts = records.map(({ text }) => text)
      for (const text of texts) {
        const { write, orders } = JSON.parse(text) as { write?: string; orders?: boolean }
        if (write === undefined || !orders) continue
        if (!this.#outside.has(write)) this.#breach(`${tenant}: what ${write} ordered was never done`)
        else if (!texts.some((other) => other.includes(`"done":"${write}"`)))
          this.#breach(`${tenant}: nobody noted that what ${write} ordered was done`)
      }
    }
  }

  /** Checks that every node responds for every tenant soon. */
  async #lastReads(): Promise<void> {
    const reads = this.#nodes.flatMap((node) =>
      node.process.isDead ? [] : tenants.map((tenant) => ({ node, tenant, isAnswered: false })),
    )
    for (const read of reads)
      void this.#ask('last', read.node, { tenant: read.tenant, write: undefined, orders: false }).then((outcome) => {
        read.isAnswered = typeof outcome === 'object'
      })
    await this.#clock.runUntil(this.#clock.now + 5_000)
    for (const { node, tenant, isAnswered } of reads)
      if (!isAnswered) this.#breach(`${node.id} does not answer for ${tenant} although there is no trouble any more`)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve))
  }
}

const kinds = [
  ...['death', 'death', 'end', 'frost', 'frost', 'deafness', 'silence'],
  ...['restart of the engine', 'loss', 'slowness', 'clock'],
] as const
