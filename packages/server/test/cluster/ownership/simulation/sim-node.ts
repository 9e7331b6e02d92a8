import { StoreUnreachable } from '../../../../src/cluster/cluster-store.js'
import { Ownership, type TenantLocation } from '../../../../src/cluster/ownership.js'
import { NotOwner } from '../../../../src/cluster/tenant-lease.js'
import { ListWorld, type Stand } from './list-world.js'
import type { SimEngine } from './sim-engine.js'
import type { SimProcess } from './sim-process.js'

const lease = 1_500

export interface Operation {
  readonly tenant: string
  /** The write; `undefined` for a read. */
  readonly write: string | undefined
  readonly orders: boolean
}

/** `not done`: the node is sure that nothing happened; `perhaps`: it may have happened, or may still happen. */
export type Outcome = Stand | 'not done' | 'perhaps'
/** Outcomes that only nodes receive. */
export type Forwarded = Outcome | 'refused' | 'misdirected'

interface Surroundings {
  readonly id: string
  readonly process: SimProcess
  readonly engine: SimEngine
  readonly tell: (line: string) => void
  readonly breach: (what: string) => void
  readonly outside: (node: string, tenant: string, order: string) => boolean
  /** Sends a request to another node by its address. */
  readonly forward: (from: SimProcess, address: string, operation: Operation) => Promise<Forwarded>
}

/** Handles requests as a node of the cluster does, with lists instead of sandboxes. */
export class SimNode {
  readonly id: string
  readonly process: SimProcess
  readonly ownership: Ownership<ListWorld>
  readonly #around: Surroundings

  constructor(around: Surroundings) {
    const { id, process, engine, tell, breach, outside } = around
    this.id = id
    this.process = process
    this.#around = around
    this.ownership = new Ownership<ListWorld>({
      engine: engine.of(process),
      node: { id, address: id },
      lease,
      host: process,
      report: (sentence) => breach(`${id} reports: ${sentence}`),
      dropped: (tenant) => tell(`${id} drops ${tenant}`),
      snapshotAfter: { records: 10 },
      open: async (tenant, kept) => {
        const pause = process.random() < 0.05 ? 2_500 : 30
        await new Promise<void>((resolve) => process.after(process.random() * pause, resolve))
        tell(`${id} opens ${tenant} with ${kept.records.length} records`)
        return new ListWorld({ node: id, host: process, outside: (order) => outside(id, tenant, order) }, kept)
      },
    })
  }

  /** Serves a request of a client or of another node. */
  async serve(operation: Operation, isForwarded: boolean): Promise<Forwarded> {
    for (let asked = 0; asked < 3; asked++) {
      const found = await this.#where(operation.tenant, asked > 0)
      if (found === undefined) return 'not done'
      if (found.own !== undefined) return this.#done(found.own, operation)
      if (isForwarded) return 'misdirected'
      const outcome = await this.#around.forward(this.process, found.node.address, operation)
      if (outcome !== 'refused' && outcome !== 'misdirected') return outcome
    }
    return 'not done'
  }

  async #where(tenant: string, again: boolean): Promise<TenantLocation<ListWorld> | undefined> {
    try {
      return await this.ownership.where(tenant, { again })
    } catch (error) {
      if (error instanceof StoreUnreachable || error instanceof NotOwner) return undefined
      this.#around.breach(`${this.id}: ${(error as Error).stack}`)
      return undefined
    }
  }

  async #done(own: NonNullable<TenantLocation<ListWorld>['own']>, { write, orders }: Operation): Promise<Outcome> {
    const stand = write === undefined ? own.world.stand : own.world.write(write, orders)
    try {
      await own.commit()
      return stand
    } catch (error) {
      if (error instanceof StoreUnreachable || error instanceof NotOwner) return 'perhaps'
      throw error
    }
  }
}
