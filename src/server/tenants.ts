import { addressesOf, locator, relocator } from '../http/address.js'
import { json } from '../http/respond.js'
import type { Answer, Call } from '../http/service.js'
import { createSandbox, type LoadOptions, type Sandbox, type SandboxOptions } from '../sandbox.js'
import type { SandboxDump } from '../sandbox-dump.js'
import { control } from './control.js'
import type { Scene } from './scene.js'
import { isTenantName } from './tenant-name.js'

/** The sandboxes of a server by name. */
export class Tenants {
  origin = ''
  readonly #options: SandboxOptions
  readonly #most: number
  readonly #controlToken: string | undefined
  readonly #scene: Scene | undefined
  #orders = 0
  #sandboxes = new Map<string, Sandbox>()

  /**
   * @param most tenants that may exist at once
   * @param controlToken what the control API asks for
   * @param scene what every new tenant begins with
   */
  constructor(options: SandboxOptions, most: number, controlToken: string | undefined, scene?: Scene) {
    this.#options = options
    this.#most = most
    this.#controlToken = controlToken
    this.#scene = scene
  }

  /** How many orders were given: some change a world without leaving an entry in its traffic. */
  get orders(): number {
    return this.#orders
  }

  get names(): readonly string[] {
    return [...this.#sandboxes.keys()]
  }

  get(name: string): Sandbox {
    const known = this.#sandboxes.get(name)
    if (known !== undefined) return known
    if (!isTenantName(name)) {
      throw new TypeError(
        `${JSON.stringify(name)} cannot be the name of a tenant: use letters, digits, '-', '_' and '.', not beginning with '_' or '.'.`,
      )
    }
    if (this.#sandboxes.size >= this.#most) {
      throw new RangeError(
        `There are ${this.#most} tenants already. Drop one with DELETE /_control/NAME, or start the server with a larger limit.`,
      )
    }
    const own = { name, base: `${this.origin}/${name}` }
    const sandbox = createSandbox({ ...(this.#scene?.options(this.#options) ?? this.#options), ...own })
    this.#scene?.begin(sandbox)
    this.#sandboxes.set(name, sandbox)
    return sandbox
  }

  /** A stray request is told why there is no more room, as an answer. */
  #made(name: string): Sandbox | RangeError {
    try {
      return this.get(name)
    } catch (error) {
      if (error instanceof RangeError) return error
      throw error
    }
  }

  /** Serves a sandbox that lives at addresses of its own under a name of this server as well. */
  adopt(name: string, sandbox: Sandbox): void {
    this.#sandboxes.set(name, sandbox)
  }

  get all(): ReadonlyMap<string, Sandbox> {
    return this.#sandboxes
  }

  /** Makes a tenant as it was. */
  restore(name: string, dump: SandboxDump, options: LoadOptions): void {
    this.get(name).load(dump, options)
  }

  drop(name: string): boolean {
    this.#sandboxes.get(name)?.dispose()
    return this.#sandboxes.delete(name)
  }

  exchange(call: Call): Answer | Promise<Answer> {
    const path = call.url.slice(this.origin.length)
    const known = this.#sandboxes.get(path.slice(1, path.indexOf('/', 1)))
    // Names of tenants begin with neither `_` nor, in this form, with `v2`.
    if (known !== undefined && !path.startsWith('/v2/') && known.owns(call.url)) return known.exchange(call)
    if (/^\/_control(?:[/?#]|$)/.test(path)) {
      if (!this.#mayControl(call)) return noToken()
      if (call.method !== 'GET') this.#orders++
      return control(call, path, this)
    }
    if (/^\/_health(?:[/?#]|$)/.test(path)) return json({ status: 'ok', tenants: this.#sandboxes.size })
    // The queue SDK in development mode expects the queue right at the origin. [queue.md 13]
    if (queueAtOrigin.test(path)) return this.get('main').exchange(moved(call, `${this.origin}/main/queue${path}`))
    const [, name = ''] = /^\/([^/?#]*)/.exec(path) ?? []
    const sandbox = this.#sandboxes.get(name) ?? (this.#wouldOwn(name, call.url) ? this.#made(name) : undefined)
    if (sandbox instanceof RangeError) return json({ error: sandbox.message }, 503)
    if (sandbox?.owns(call.url)) return sandbox.exchange(call)
    const adopted = sandbox && relocator(addressesOf({ base: `${this.origin}/${name}` }), sandbox.addresses)(call.url)
    if (adopted !== undefined) return sandbox!.exchange(moved(call, adopted))
    const error = `Nothing lives at ${path}. The services of the tenant "main" are at /main/store, /main/queue and /main/mgmt, its control API at /_control/main.`
    return json({ error }, 404)
  }

  #mayControl({ headers }: Call): boolean {
    if (this.#controlToken === undefined) return true
    return headers.some(
      ([name, value]) => name.toLowerCase() === 'authorization' && value === `Bearer ${this.#controlToken}`,
    )
  }

  /** Whether a tenant of this name would answer: a stray request shall not make one. */
  #wouldOwn(name: string, url: string): boolean {
    return isTenantName(name) && locator(addressesOf({ base: `${this.origin}/${name}` }))(url) !== undefined
  }

  dispose(): void {
    for (const sandbox of this.#sandboxes.values()) sandbox.dispose()
  }
}

/** Not the services of a tenant that is called `v2`. */
const queueAtOrigin = /^\/v2\/(?!store(?:[/?#]|$)|queue(?:[-/?#]|$)|mgmt(?:[/?#]|$))./

function noToken(): Answer {
  const error = 'The control API asks for its token, which the server printed: Authorization: Bearer TOKEN.'
  return json({ error }, 401, [['www-authenticate', 'Bearer']])
}

function moved(call: Call, url: string): Call {
  return {
    method: call.method,
    url,
    headers: call.headers,
    body: () => call.body(),
    get signal() {
      return call.signal
    },
  }
}
