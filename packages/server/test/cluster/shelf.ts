import { createSandbox, type Sandbox, type SandboxOptions } from 'stuntdouble'
import { JournaledSandbox, type SandboxRecords } from '../../src/cluster/journaled-sandbox.js'

/** Saved records of a sandbox, as the Redis would have them. */
class Shelf {
  snapshot: Uint8Array | undefined
  records: Uint8Array[] = []

  get kept(): SandboxRecords {
    return { snapshot: this.snapshot, records: [...this.records] }
  }

  put(world: JournaledSandbox): void {
    this.records.push(...world.take())
  }

  async compact(world: JournaledSandbox): Promise<void> {
    this.put(world)
    const snapshot = await world.snapshot()
    if (snapshot === undefined) return
    this.snapshot = snapshot.bytes
    this.records = []
  }
}

/** Responds to every request. */
export type Network = (request: Request) => Response | Promise<Response>

/** Nodes on the same network, one of which has the sandbox. */
export class Nodes {
  readonly shelf = new Shelf()
  world!: JournaledSandbox
  readonly #make: () => Sandbox

  constructor(network: Network, options: SandboxOptions = {}) {
    const fetch: SandboxOptions['fetch'] = async (url, init) => network(new Request(url, init))
    this.#make = () => createSandbox({ onWarning: () => {}, fetch, deliverTo: 'any', ...options })
  }

  get sandbox(): Sandbox {
    return this.world.sandbox
  }

  /** Opens the sandbox on the next node. */
  async open(kept: SandboxRecords = this.shelf.kept): Promise<void> {
    this.world = await JournaledSandbox.open(this.#make, kept)
    this.world.gate = undefined
  }

  /** Ends one node, and opens the saved sandbox on the next one. */
  async move(): Promise<void> {
    this.shelf.put(this.world)
    this.world.dispose()
    await this.open()
  }

  /** Saves records as soon as possible, in as many records as possible. */
  keepAtOnce(): void {
    const { world, shelf } = this
    world.onRecords = () => shelf.put(world)
  }
}
