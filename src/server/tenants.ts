import { addressesOf, locator } from '../http/address.js'
import { json } from '../http/respond.js'
import type { Answer, Call } from '../http/service.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../sandbox.js'
import { control } from './control.js'

/** The sandboxes of a server by name. */
export class Tenants {
  origin = ''
  readonly #options: SandboxOptions
  #sandboxes = new Map<string, Sandbox>()

  constructor(options: SandboxOptions) {
    this.#options = options
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
    const sandbox = createSandbox({ ...this.#options, base: `${this.origin}/${name}` })
    this.#sandboxes.set(name, sandbox)
    return sandbox
  }

  exchange(call: Call): Answer | Promise<Answer> {
    const path = call.url.slice(this.origin.length)
    if (/^\/_control(?:[/?#]|$)/.test(path)) return control(call, path, this)
    // The queue SDK in development mode expects the queue right at the origin. [queue.md 13]
    if (queueAtOrigin.test(path)) return this.get('main').exchange(moved(call, `${this.origin}/main/queue${path}`))
    const [, name = ''] = /^\/([^/?#]*)/.exec(path) ?? []
    const sandbox = this.#sandboxes.get(name) ?? (this.#wouldOwn(name, call.url) ? this.get(name) : undefined)
    if (sandbox?.owns(call.url)) return sandbox.exchange(call)
    const error = `Nothing lives at ${path}. The services of the tenant "main" are at /main/store, /main/queue and /main/mgmt, its control API at /_control/main.`
    return json({ error }, 404)
  }

  /** Whether a tenant of this name would answer: a stray request shall not make one. */
  #wouldOwn(name: string, url: string): boolean {
    return isTenantName(name) && locator(addressesOf({ base: `${this.origin}/${name}` }))(url) !== undefined
  }

  dispose(): void {
    for (const sandbox of this.#sandboxes.values()) sandbox.dispose()
    this.#sandboxes.clear()
  }
}

/** Not the services of a tenant that is called `v2`. */
const queueAtOrigin = /^\/v2\/(?!store(?:[/?#]|$)|queue(?:[-/?#]|$)|mgmt(?:[/?#]|$))./

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

function isTenantName(name: string): boolean {
  return /^[a-z0-9-][a-z0-9._-]{0,99}$/i.test(name)
}
