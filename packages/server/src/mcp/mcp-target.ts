import { latin1, text, utf8 } from '../../../../src/kernel/bytes.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import { HttpError } from '../../../../src/protocol/call.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { control } from '../control/control.js'
import { Mistake } from './mistake.js'

export interface ControlResponse {
  readonly ok: boolean
  /** Body of the response: a JSON value, or a text. */
  readonly value: unknown
  readonly hasMore: boolean
}

export interface ControlCall {
  readonly method?: string
  /** Path and query below `/_control/{tenant}`. */
  readonly path: string
  readonly body?: unknown
  readonly tenant?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The source that the tools read: the tenants of a server, or a saved trace. */
export interface McpTarget {
  /** Description at the start of the instructions for an agent. It contains no captured data. */
  readonly title: string
  /** Whether the source is a saved trace. Then only tools that read the traffic log exist. */
  readonly isTrace: boolean
  ask(asking: ControlCall): Promise<ControlResponse>
  tenants(): Promise<readonly string[]>
  /**
   * Returns all secrets that must be redacted in a response.
   * @param region region that the call names; the signing keys of this region and of the home region are secrets
   */
  secrets(tenant?: string, region?: string): Promise<readonly string[]>
}

interface ServerOptions {
  readonly url: string
  readonly tenant: string
  readonly controlToken?: string | undefined
  /** Additional secrets that must be redacted. */
  readonly secrets?: readonly string[]
}

/** The tenants of a running server. */
export class ServerTarget implements McpTarget {
  readonly isTrace = false
  readonly #options: ServerOptions
  /** All current and former tokens and keys, because old entries may contain them. */
  readonly #secrets: Set<string>

  constructor(options: ServerOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') }
    this.#secrets = new Set([...(options.secrets ?? []), ...(options.controlToken ? [options.controlToken] : [])])
  }

  get title(): string {
    return `a stuntdouble server at ${this.#options.url}, tenant ${this.#options.tenant} by default`
  }

  async ask({ path, tenant, ...asking }: ControlCall): Promise<ControlResponse> {
    if (tenant !== undefined) await this.#refuseUnknown(tenant)
    return this.#send(`/${encodeURIComponent(tenant ?? this.#options.tenant)}${path}`, asking)
  }

  async tenants(): Promise<readonly string[]> {
    const { value } = await this.#send('', {})
    const { tenants } = value as { tenants?: unknown }
    return Array.isArray(tenants) ? tenants.map(String) : []
  }

  async secrets(tenant?: string, region?: string): Promise<readonly string[]> {
    // The environment contains the keys of every existing region. Also request the keys of the region that the call
    // names. Do not request the keys of other regions, because the request would create the region.
    const away = region === undefined ? [] : [`/queue/signing-keys?${new URLSearchParams({ region })}`]
    const [world, ...keys] = await Promise.all(
      ['', '/queue/signing-keys', ...away].map((path) => this.ask({ path, tenant })),
    )
    const { tokens, env } = world!.value as { tokens?: Record<string, unknown>; env?: Record<string, unknown> }
    const { mgmtUser: _, ...secret } = tokens ?? {}
    this.#keep(secret)
    this.#keep(Object.entries(env ?? {}).flatMap(([name, value]) => (/TOKEN|KEY/.test(name) ? [value] : [])))
    for (const { ok, value } of keys) if (ok) this.#keep(value)
    return [...this.#secrets]
  }

  #keep(given: unknown): void {
    if (typeof given === 'string') this.#secrets.add(given)
    else if (typeof given === 'object' && given !== null) for (const one of Object.values(given)) this.#keep(one)
  }

  /** Rejects the name of an unknown tenant. Otherwise the request would create the tenant. */
  async #refuseUnknown(tenant: string): Promise<void> {
    if (tenant === this.#options.tenant || (await this.tenants()).includes(tenant)) return
    throw new Mistake(
      'There is no tenant with this name. Call list_tenants for the names of all tenants, or omit `tenant`.',
    )
  }

  async #send(path: string, { method = 'GET', body, signal }: Omit<ControlCall, 'path'>): Promise<ControlResponse> {
    const { url, controlToken } = this.#options
    const answer = await fetch(`${url}/_control${path}`, {
      method,
      headers: {
        ...(controlToken !== undefined && { authorization: `Bearer ${controlToken}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    }).catch((error: Error) => {
      if (signal?.aborted === true) throw error
      throw new Mistake(
        `The server at ${url} no longer responds. Start one with "npx stuntdouble serve", or start this program again without --url.`,
      )
    })
    const { ok, headers } = answer
    return toldOf(ok, headers.get('content-type'), await answer.text(), headers.has('link'))
  }
}

/** A saved trace. Operations that read only the traffic log return the same responses as on a server. */
export class TraceTarget implements McpTarget {
  readonly isTrace = true
  readonly #traffic: Traffic
  readonly #secrets: readonly string[]

  /** @param secrets texts that must be redacted, in addition to the secrets that are already redacted in the trace */
  constructor(traffic: Traffic, secrets: readonly string[] = []) {
    this.#traffic = traffic
    this.#secrets = secrets
  }

  get title(): string {
    return `a saved trace of ${this.#traffic.size} entries, which is read-only`
  }

  async ask({ method = 'GET', path, body, signal }: ControlCall): Promise<ControlResponse> {
    const headers = [] as const
    const bytes = body === undefined ? latin1('') : utf8(JSON.stringify(body))
    const call = { method, url: `http://trace.test${path}`, headers, body: () => bytes, signal }
    const world = { traffic: this.#traffic } as Sandbox
    const tenants = { origin: 'http://trace.test', names: [], drop: () => false, reached: (address: string) => address }
    const answer = await control(call, `/_control/trace${path}`, {
      ...tenants,
      asked: () => world,
      adoptFork: () => '',
    })
    const of = (name: string): string | undefined => answer.headers.find(([key]) => key.toLowerCase() === name)?.[1]
    if (typeof answer.body !== 'string') throw new HttpError(400, 'A trace has no streams.')
    const isGood = answer.status < 400
    return toldOf(isGood, of('content-type') ?? null, text(answer.body), of('link') !== undefined)
  }

  async tenants(): Promise<readonly string[]> {
    return []
  }

  async secrets(): Promise<readonly string[]> {
    return this.#secrets
  }
}

function toldOf(ok: boolean, type: string | null, body: string, hasMore: boolean): ControlResponse {
  const value = type?.startsWith('application/json') === true ? parsedJson(body) : body
  return { ok, value, hasMore }
}
