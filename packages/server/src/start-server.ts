import { type Duration, milliseconds } from '../../../src/kernel/duration.js'
import { checkOptionNames } from '../../../src/kernel/nearest-name.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { checkedScenario } from '../../../src/scenarios/scenario.js'
import type { Scenario } from '../../../src/scenarios/written-scenario.js'
import type { ClusterNode } from './cluster/tenant-lease.js'
import { planOf, type ServerOptions } from './server-options.js'
import { Serving } from './serving.js'
import type { Tenants } from './tenants.js'

/** A server with one sandbox per tenant, at `http://HOST:PORT/{tenant}/{store|queue|mgmt}`. */
export interface StuntdoubleServer extends AsyncDisposable {
  /** Origin of the server, such as `http://127.0.0.1:4010`. */
  readonly origin: string
  /** Address that the server listens on, as in the option `host`. Default `localhost`. */
  readonly host: string
  /** Port that the server listens on. If the option `port` is 0, it is the selected free port. */
  readonly port: number
  /** Port of the Redis protocol, or `undefined` if it is not served. */
  readonly redisPort: number | undefined
  /** Bearer token of the control API, or `undefined` if it needs none. */
  readonly controlToken: string | undefined
  /**
   * Secret from which the tokens of tenants are derived. If a server is restarted with the same secret, the tokens stay
   * the same.
   */
  readonly secret: string | undefined
  /**
   * Link to the inspector. If the control API needs a token, the link works once, in one browser, within an hour. Each
   * read of this property then returns a new link.
   */
  readonly inspectorUrl: string
  /**
   * Returns the sandbox of a tenant. The first call creates the sandbox, with a clock of its own.
   * @throws TypeError for a name that a tenant cannot have, such as the name of a command
   * @example
   * const { store } = server.tenant('main')
   * store.run('SET', 'greeting', 'hello')
   */
  tenant(name: string): Sandbox
  /**
   * Serves your own sandbox as a tenant of this server. If the tenant exists, your sandbox replaces its sandbox. The
   * sandbox is disposed by `drop()`, or when the server is closed.
   * @throws TypeError for a name that a tenant cannot have, or when other machines can connect and the sandbox has
   * public default tokens
   * @example
   * server.adopt('orders', createSandbox({ seed: 7 }))
   * expect(server.tenants).toContain('orders')
   */
  adopt(name: string, sandbox: Sandbox): void
  /**
   * Stops serving the sandbox of a tenant without disposing the sandbox. Returns `false` if the name is unknown.
   * @example
   * const sandbox = createSandbox()
   * server.adopt('orders', sandbox)
   * expect(server.release('orders')).toBe(true)
   */
  release(name: string): boolean
  /**
   * Disposes the sandbox of a tenant. Returns `false` if the name is unknown.
   * @example
   * server.tenant('main')
   * expect(server.drop('main')).toBe(true)
   */
  drop(name: string): boolean
  /**
   * Returns the URLs and the environment of a tenant without creating it.
   * @example
   * const { urls } = server.describeTenant('main')
   * expect(server.tenants).toEqual([])
   */
  describeTenant(name: string): Pick<Sandbox, 'urls' | 'env'>
  /** This node, as the other nodes of the cluster know it; `undefined` without a cluster. */
  readonly node: ClusterNode | undefined
  /** Names of the tenants that exist. */
  readonly tenants: readonly string[]
  /**
   * Replaces the scenario of the server. New tenants begin with the new scenario. Existing tenants get its destinations
   * and faults. Returns the number of existing tenants.
   * @throws TypeError when the server was started without a scenario
   * @example
   * await using server = await startServer({ port: 0, scenario: scenarios.flappingDestination })
   * server.setScenario(scenarios.thunderingHerd)
   */
  setScenario(scenario: Scenario): number
  /**
   * Resolves when all commands so far were compared with the shadow. Resolves immediately without a shadow.
   * @example await server.shadowSettled()
   */
  shadowSettled(): Promise<void>
  /** After `close()`: whether the state file contains all changes. `true` without a state file. */
  readonly isStateSaved: boolean
  /**
   * Stops the server. Every sandbox is disposed, and event streams end. Running requests have two seconds of host time
   * to finish. `grace` sets another duration, such as `'5s'`, or milliseconds.
   * @example await server.close({ grace: '5s' })
   */
  close(options?: { readonly grace?: Duration }): Promise<void>
}

/**
 * Starts a server and resolves when it listens.
 * @throws Error when `NODE_ENV` is `production`, because a double that replaces the service loses data
 * @throws TypeError for public tokens when other machines can connect
 * @throws Error when it cannot listen; its `code` is the error code of the operating system, such as `EADDRINUSE`
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
      'server: tenants of a cluster are on the nodes that own them. Use connect(url, { tenant }) to reach one.',
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
      throw new TypeError(
        'server.setScenario(): the server was started without a scenario. Start it with a scenario that you can replace later.',
      )
    },
    shadowSettled: async () => engine?.compared(),
    get isStateSaved() {
      return serving.isKept
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
