import type { FaultRule } from '../faults/fault.js'
import { bindMethods } from '../kernel/bind-methods.js'
import { callerLine } from '../kernel/caller-line.js'
import { givenRules } from '../kernel/given-rules.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { FaultRuleStatus, UnusedFault } from '../rules/fault-rules.js'
import type { ControlClient } from './control-client.js'

/**
 * Handle that `faults.add()` returns, which removes the added rules. `await using` removes them at the end of the
 * scope.
 */
export class RemoteFaultHandle implements AsyncDisposable {
  static {
    bindMethods(RemoteFaultHandle)
  }

  readonly #wire: ControlClient
  readonly #id: string

  /** @internal */
  constructor(wire: ControlClient, id: string) {
    this.#wire = wire
    this.#id = id
  }

  /**
   * Removes the rules that `add()` added when it returned this handle.
   * @example
   * const outage = await sandbox.faults.add({ on: 'queue.delivery', fault: fault.status(503) })
   * await outage.remove()
   * expect(await sandbox.faults.rules).toEqual([])
   */
  async remove(): Promise<void> {
    await this.#wire.send('DELETE', `/faults?handle=${encodeURIComponent(this.#id)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}

/** The fault rules of a tenant: `sandbox.faults`. */
export class RemoteFaults {
  static {
    bindMethods(RemoteFaults)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /**
   * Adds one or more rules. The rules are evaluated in the order of the list, after the existing rules. Durations in
   * `from` and `until` count from now.
   * @example await using added = await sandbox.faults.add(outage.faults)
   */
  async add(
    rules: FaultRule | readonly FaultRule[] | undefined,
    options: { readonly location?: string } = {},
  ): Promise<RemoteFaultHandle> {
    checkOptionNames('faults.add()', options, { location: true })
    const location = options.location ?? callerLine(new Error('declared here'))
    return this.#handle(await this.#wire.post('/faults', { rules: givenRules(rules), location }))
  }

  /**
   * Removes the rules that one `add()` call created, or all rules with the given name.
   * @param which the handle that `add()` returned, or a name
   * @throws TypeError when the argument is neither a handle nor a string
   * @example
   * await sandbox.faults.add({ name: 'outage', on: 'queue.delivery', fault: fault.status(503) })
   * await sandbox.faults.remove('outage')
   */
  async remove(which: RemoteFaultHandle | string): Promise<void> {
    if (typeof which === 'string')
      return void (await this.#wire.send('DELETE', `/faults?name=${encodeURIComponent(which)}`))
    if (typeof which?.remove !== 'function') {
      throw new TypeError('faults.remove(): the argument must be a handle from faults.add() or the name of a rule.')
    }
    await which.remove()
  }

  /**
   * Removes all rules, and ends the outages of services that a fault has restarted.
   * @example
   * await sandbox.faults.clear()
   * expect(await sandbox.faults.rules).toEqual([])
   */
  async clear(): Promise<void> {
    await this.#wire.send('DELETE', '/faults')
  }

  /** The rules with their counters, in the order in which they are evaluated. */
  get rules(): Promise<readonly FaultRuleStatus[]> {
    return this.#wire.list('/faults') as Promise<readonly FaultRuleStatus[]>
  }

  /** Rules that were never injected, each with the line of the code that added it. */
  get unused(): Promise<readonly UnusedFault[]> {
    return this.#wire.list('/faults/unused') as Promise<readonly UnusedFault[]>
  }

  #handle(answer: unknown): RemoteFaultHandle {
    return new RemoteFaultHandle(this.#wire, (answer as { handle: string }).handle)
  }
}
