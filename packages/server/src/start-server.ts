import { type Duration, milliseconds } from '../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { checkedScenario } from '../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import type { ClusterNode } from './cluster/tenant-lease.js'
import { planOf, type ServerOptions } from './server-options.js'
import { Serving } from './serving.js'
import type { Tenants } from './tenants.js'

/** A server of many sandboxes, one for each tenant: `http://HOST:PORT/{tenant}/{store|queue|mgmt}`. */
export interface StuntdoubleServer extends AsyncDisposable {
  readonly origin: string
  readonly host: string
  readonly port: number
  /** Of the native protocol, where it is served. */
  readonly redisPort: number | undefined
  /** The bearer token of the control API, where it asks for one. */
  readonly controlToken: string | undefined
  /** The secret of the tenants' tokens: they are the same after a restart with the same one. */
  readonly secret: string | undefined
  /**
   * A link to the inspector. Where the control API asks for a token, it lets in one browser, once, within an hour; reading it
   * again makes another one.
   */
  readonly inspectorUrl: string
  /**
   * The sandbox of a tenant, made on first use with a clock of its own.
   * @example
   * const { store } = server.tenant('main')
   * store.run('SET', 'greeting', 'hello')
   */
  tenant(name: string): Sandbox
  /**
   * Serves a sandbox that you made yourself, with options of its own, under a name of this server; instead of the one
   * that had the name. It is disposed with the server, or by `drop`.
   * @throws TypeError where other machines can call and its tokens are defaults that everybody knows
   * @example
   * server.adopt('orders', createSandbox({ seed: 7 }))
   * expect(server.tenants).toContain('orders')
   */
  adopt(name: string, sandbox: Sandbox): void
  /**
   * Serves a sandbox no more that goes on elsewhere: it is not disposed. `false` when there is none of this name.
   * @example
   * const sandbox = createSandbox()
   * server.adopt('orders', sandbox)
   * expect(server.release('orders')).toBe(true)
   */
  release(name: string): boolean
  /**
   * Disposes the sandbox of a tenant; `false` when there is none of this name.
   * @example
   * server.tenant('main')
   * expect(server.drop('main')).toBe(true)
   */
  drop(name: string): boolean
  /**
   * Addresses and environment of a tenant, who is not made by this.
   * @example
   * const { urls } = server.describeTenant('main')
   * expect(server.tenants).toEqual([])
   */
  describeTenant(name: string): Pick<Sandbox, 'urls' | 'env'>
  /** Itself, where it is a node of a cluster: the others know it by this. */
  readonly node: ClusterNode | undefined
  /** The tenants that were used so far. */
  readonly tenants: readonly string[]
  /**
   * Another scenario instead of the one it was started with: for new tenants all of it, for those that are there its
   * destinations and faults. Tells how many are there.
   * @example
   * await using server = await startServer({ port: 0, scenario: scenarios.flappingDestination })
   * server.setScenario(scenarios.thunderingHerd)
   */
  setScenario(scenario: Scenario): number
  /**
   * Resolves when a twin was told everything that has run; at once where there is none.
   * @example await server.shadowSettled()
   */
  shadowSettled(): Promise<void>
  /** After `close()`: whether the state file holds everything; `true` where there is none. */
  readonly isStateSaved: boolean
  /**
   * Lets running requests end for at most two seconds, or for `grace` of the host's time (`'5s'`, or milliseconds), ends event streams, and disposes
   * every sandbox.
   * @example await server.close({ grace: '5s' })
   */
  close(options?: { readonly grace?: Duration }): Promise<void>
}

/**
 * Starts a server and resolves when it listens.
 * @throws Error where `NODE_ENV` is `production`, because a double in the place of the service loses data
 * @throws TypeError for tokens that everybody knows where other machines can call
 * @throws Error where it cannot listen: with the `code` of the system, and what to give instead
 * @example
 * await using server = await startServer({ port: 0 })
 * const { env, clock } = server.tenant('main')
 */
export async function startServer(options: ServerOptions = {}): Promise<StuntdoubleServer> {
  const plan = await planOf(options)
  const serving = new Serving(plan, options)
  await serving.start()
  const { tenants, origin, port, native, engine } = serving
  const { host, controlToken, secret, scene } = plan
  const close = async (options: { readonly grace?: Duration } = {}): Promise<void> => {
    checkOptionNames('server.close()', options, { grace: true })
    return serving.close(options.grace === undefined ? undefined : milliseconds(options.grace))
  }
  const own = (): Tenants => {
    if (serving.node === undefined) return tenants
    throw new TypeError(
      'The tenants of a cluster are at the nodes that own them: reach them over the network, with connect(url, { tenant }).',
    )
  }
  return {
    origin,
    host,
    port,
    redisPort: native?.port,
    controlToken,
    secret,
    get inspectorUrl() {
      return serving.links!.next()
    },
    tenant: (tenant) => own().get(tenant),
    adopt: (tenant, sandbox) => own().adopt(tenant, sandbox),
    release: (tenant) => own().release(tenant),
    drop: (tenant) => own().drop(tenant),
    describeTenant: (tenant) => tenants.outline(tenant),
    node: serving.node?.node,
    get tenants() {
      return tenants.names
    },
    setScenario: (scenario) => {
      if (scene !== undefined) return scene.change(checkedScenario(scenario, 'The scenario'))
      throw new TypeError('This server was started without a scenario: there is none to change.')
    },
    shadowSettled: async () => engine?.compared(),
    get isStateSaved() {
      return serving.isKept
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
