import type { FaultRule } from '../faults/fault.js'
import { bindMethods } from '../kernel/bind-methods.js'
import { callerLine } from '../kernel/caller-line.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { ListedFault, UnusedFault } from '../rules/fault-rules.js'
import type { Scenario } from '../scenarios/written-scenario.js'
import type { ControlClient } from './control-client.js'

/** Removes the rules; so does the end of an `await using` scope. */
export class RemoteHandle implements AsyncDisposable {
  static {
    bindMethods(RemoteHandle)
  }

  readonly #wire: ControlClient
  readonly #id: string

  /** @internal */
  constructor(wire: ControlClient, id: string) {
    this.#wire = wire
    this.#id = id
  }

  async remove(): Promise<void> {
    await this.#wire.send('DELETE', `/faults?handle=${encodeURIComponent(this.#id)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}

/** `sandbox.faults` of a tenant on a server. */
export class RemoteFaults {
  static {
    bindMethods(RemoteFaults)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /** Adds one rule or several, asked in this order, after the existing ones. Spans of windows count from now. */
  async add(rules: FaultRule | readonly FaultRule[], options: { readonly line?: string } = {}): Promise<RemoteHandle> {
    checkOptionNames('faults.add()', options, { line: true })
    const line = options.line ?? callerLine(new Error('declared here'))
    return this.#handle(await this.#wire.post('/faults', { rules, location: line }))
  }

  /** As `sandbox.play()`. */
  async play(scenario: Scenario): Promise<RemoteHandle> {
    return this.#handle(await this.#wire.post('/faults', { scenario }))
  }

  /** Removes rules: by the handle that `add` returned, or all with a name. */
  async remove(which: RemoteHandle | string): Promise<void> {
    if (typeof which === 'string')
      return void (await this.#wire.send('DELETE', `/faults?name=${encodeURIComponent(which)}`))
    if (typeof which?.remove !== 'function') {
      throw new TypeError('faults.remove() takes what faults.add() returned, or the name of a rule.')
    }
    await which.remove()
  }

  /** Removes all rules; services that are down come up. */
  async clear(): Promise<void> {
    await this.#wire.send('DELETE', '/faults')
  }

  async list(): Promise<readonly ListedFault[]> {
    return (await this.#wire.list('/faults')) as readonly ListedFault[]
  }

  /** Rules that were never injected, each with the line that declared it. */
  async unused(): Promise<readonly UnusedFault[]> {
    return (await this.#wire.list('/faults/unused')) as readonly UnusedFault[]
  }

  #handle(answer: unknown): RemoteHandle {
    return new RemoteHandle(this.#wire, (answer as { handle: string }).handle)
  }
}
