import { createSandbox, type Sandbox, type SandboxOptions } from 'stuntdouble'
import { JournaledSandbox, type SandboxRecords } from '../../src/cluster/journaled-sandbox.js'

/** What is kept of a world, as the engine would have it. */
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

/** Answers whatever is sent to an address. */
export type Network = (request: Request) => Response | Promise<Response>

/** Nodes that reach the same network, one of which has the world now. */
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

  /** The next node has it. */
  async open(kept: SandboxRecords = this.shelf.kept): Promise<void> {
    this.world = await JournaledSandbox.open(this.#make, kept)
    this.world.gate = undefined
  }

  /** One ends, and the next one takes over what it kept. */
  async move(): Promise<void> {
    this.shelf.put(this.world)
    this.world.dispose()
    await this.open()
  }

  /** Keeps what comes as soon as it can, in as many records as there can be. */
  keepAtOnce(): void {
    const { world, shelf } = this
    world.onRecords = () => shelf.put(world)
  }
}
