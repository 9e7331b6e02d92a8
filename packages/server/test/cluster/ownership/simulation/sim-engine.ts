import type { Random } from '../../../../../../src/kernel/random.js'
import * as scripts from '../../../../src/cluster/cluster-scripts.js'
import {
  type ClusterStore,
  type LuaScript,
  type ScriptReply,
  StoreUnreachable,
} from '../../../../src/cluster/cluster-store.js'
import { numberOf, textOf } from '../../../../src/cluster/replies.js'
import { MemoryClusterStore } from '../memory-cluster-store.js'
import type { SimClock } from './sim-clock.js'
import type { SimProcess } from './sim-process.js'

const names = new Map(Object.entries(scripts).map(([name, script]) => [script, name]))

/** A record as it was written to a journal. Later checks see all of them, including those that snapshots replaced. */
export interface Written {
  readonly fence: number
  readonly text: string
}

/** The store of a sandbox with a complete journal behind it, and the network in front of it. */
export class SimEngine {
  isDown = false
  /** Whether everything is fast. */
  isCalm = false
  /** Percentage of lost requests and replies. */
  loss = 0
  slowness = 1
  readonly journals = new Map<string, Written[]>()
  readonly counts: Record<string, number> = {}
  readonly #clock: SimClock
  readonly store: MemoryClusterStore
  readonly #random: Random
  readonly #tell: (line: string) => void
  readonly #breach: (what: string) => void
  readonly #mutate: (name: string, source: string) => string

  constructor(given: {
    readonly clock: SimClock
    readonly random: Random
    readonly tell: (line: string) => void
    readonly breach: (what: string) => void
    readonly mutate: (name: string, source: string) => string
  }) {
    this.#clock = given.clock
    this.#random = given.random
    this.#tell = given.tell
    this.#breach = given.breach
    this.#mutate = given.mutate
    this.store = new MemoryClusterStore(() => Date.UTC(2026, 0, 1) + given.clock.now)
  }

  /** Returns the connection of one process, which waits a second for a reply. */
  of(process: SimProcess): ClusterStore {
    return { run: (script, tag, args) => this.#call(process, script, tag, args) }
  }

  /** Returns the stored snapshot, and the number of records that it contains. */
  snapshot(tenant: string): { readonly stands: number; readonly text: string } {
    const [base, snapshot] = this.store.command('MGET', key(tenant, 'base'), key(tenant, 'snapshot')) as ScriptReply[]
    return { stands: Number(textOf(base ?? '0')), text: textOf(snapshot ?? '') }
  }

  #call(
    process: SimProcess,
    script: LuaScript,
    tag: string,
    args: readonly (string | Uint8Array)[],
  ): Promise<ScriptReply> {
    return new Promise((resolve, reject) => {
      if (!process.acts()) return
      const silence = process.after(1_000, () => reject(new StoreUnreachable('no reply within a second.')))
      const answer = (settle: () => void): void => {
        this.#clock.after(this.#latency(), () =>
          process.happen(() => {
            silence()
            settle()
          }),
        )
      }
      if (!process.speaks || this.#loses()) return
      if (this.isDown) return answer(() => reject(new StoreUnreachable('connection refused.')))
      this.#clock.after(this.#latency(), () => {
        if (this.isDown) return
        const settle = this.#executed(script, tag, args)
        if (process.hears && !this.#loses()) answer(() => settle(resolve, reject))
      })
    })
  }

  #executed(script: LuaScript, tag: string, args: readonly (string | Uint8Array)[]) {
    const name = names.get(script) ?? 'unknown'
    const source = this.#mutate(name, script.source)
    try {
      const reply = this.store.runNow({ ...script, source }, tag, args)
      const said = Array.isArray(reply) ? textOf(reply[0]) : ''
      this.counts[`${name} ${said.replace(/^\d+$/, '')}`] =
        (this.counts[`${name} ${said.replace(/^\d+$/, '')}`] ?? 0) + 1
      this.#tell(`engine ${name} ${tag} ${args.map((arg) => textOf(arg).slice(0, 40)).join(' ')} -> ${line(reply)}`)
      if (name === 'drop') this.journals.delete(tag)
      if (tag !== scripts.sharedTag) this.#look(tag)
      return (resolve: (reply: ScriptReply) => void) => resolve(reply)
    } catch (error) {
      this.#breach(`${name} failed in the engine: ${(error as Error).message}`)
      return (_: unknown, reject: (error: unknown) => void) => reject(error)
    }
  }

  /** Copies new records of a journal. */
  #look(tenant: string): void {
    const journal = this.journals.get(tenant) ?? []
    this.journals.set(tenant, journal)
    const { stands } = this.snapshot(tenant)
    const length = numberOf(this.store.command('LLEN', key(tenant, 'journal')))
    if (stands + length < journal.length) this.#breach(`the journal of ${tenant} has lost records`)
    if (stands > journal.length) this.#breach(`a snapshot of ${tenant} stands for records that were never written`)
    const from = String(Math.max(0, journal.length - stands))
    for (const record of this.store.command('LRANGE', key(tenant, 'journal'), from, '-1') as ScriptReply[]) {
      const [, fence = '', text = ''] = /^(\d+):(.*)$/s.exec(textOf(record)) ?? []
      const before = journal.at(-1)
      if (before !== undefined && before.fence > Number(fence))
        this.#breach(`${tenant}: a record under fence ${fence} came after one under ${before.fence}`)
      journal.push({ fence: Number(fence), text })
    }
  }

  #latency(): number {
    const int = (below: number): number => this.#random.int(below)
    const usual = 0.2 + int(30) / 10
    if (this.isCalm) return usual
    return this.slowness * (int(200) === 0 ? usual + int(1_500) : int(20) === 0 ? usual + int(60) : usual)
  }

  #loses(): boolean {
    return this.#random.int(100) < this.loss
  }
}

function key(tenant: string, part: string): string {
  return `stuntdouble:{${tenant}}:${part}`
}

function line(reply: ScriptReply): string {
  return Array.isArray(reply) ? `[${reply.map(line).join(' ')}]` : textOf(reply as Uint8Array).slice(0, 40)
}
