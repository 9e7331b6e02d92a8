import { parsedJson } from '../kernel/parsed-json.js'
import { carryFailure } from '../report/failure.js'
import { ReplyError } from '../store/command/reply.js'

/** Options of `connect()`. */
export interface ConnectOptions {
  /** The world of its own on the server. Default `main`. */
  readonly tenant?: string
  /** The token that the server asks callers on other machines for: `stuntdouble serve --control-token`. */
  readonly controlToken?: string
  /** Default: the global `fetch` of the moment of the call. */
  readonly fetch?: typeof globalThis.fetch
}

type Json = Readonly<Record<string, unknown>>

/** Requests to the control API of one tenant. */
export class ControlClient {
  readonly #url: string
  readonly #base: string
  readonly #options: ConnectOptions

  /** @param region which queue and which workflows the requests are about; the home region's without it */
  constructor(
    url: string,
    options: ConnectOptions,
    readonly region?: string,
  ) {
    if (!URL.canParse(url))
      throw new TypeError(`${JSON.stringify(url)} is not the address of a server, such as http://localhost:4010.`)
    this.#base = `${url.replace(/\/+$/, '')}/_control/${encodeURIComponent(options.tenant ?? 'main')}`
    this.#options = options
    this.#url = url
  }

  /** Requests about the queue and the workflows of a region. */
  in(region: string): ControlClient {
    return new ControlClient(this.#url, this.#options, region)
  }

  /** Requests to another tenant of the same server. */
  to(tenant: string): ControlClient {
    return new ControlClient(this.#url, { ...this.#options, tenant })
  }

  #addressOf(path: string): string {
    if (this.region === undefined || /[?&]region=/.test(path)) return this.#base + path
    return `${this.#base}${path}${path.includes('?') ? '&' : '?'}region=${encodeURIComponent(this.region)}`
  }

  /** Where the tenant is. */
  get tenant(): string {
    return this.#base.replace('/_control/', '/')
  }

  get(path: string): Promise<unknown> {
    return this.send('GET', path)
  }

  post(path: string, body: Json = {}, signal?: AbortSignal): Promise<unknown> {
    return this.send('POST', path, body, signal)
  }

  async send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const answer = await this.ask(method, path, body, signal)
    const text = await answer.text()
    if (answer.ok) {
      if (answer.headers.get('content-type')?.startsWith('application/json') !== true) return text
      const given = parsedJson(text)
      if (given === undefined) throw this.foreign('no JSON')
      return given
    }
    throw this.#refusal(answer, text)
  }

  /** The error for an answer that cannot come from a stuntdouble server. */
  foreign(answered: string): Error {
    return new Error(
      `What answers at ${this.#base} is not a stuntdouble server: it answered ${answered}. Check the address and its port, or start one with "npx stuntdouble serve".`,
    )
  }

  #refusal({ status }: Response, text: string): Error {
    try {
      const { error, reply, violations, replay } = JSON.parse(text) as {
        error: unknown
        reply?: boolean
        violations?: unknown
        replay?: string
      }
      if (typeof error !== 'string') return this.foreign(`${status}`)
      if (reply === true) return new ReplyError(error)
      if (violations === undefined) return new Error(error)
      const broken = Object.assign(new Error(error), { name: 'InvariantError' })
      return carryFailure(broken, replay === undefined ? {} : { replay })
    } catch {
      return this.foreign(`${status}`)
    }
  }

  /** A whole list, fetched in as many parts as it takes. */
  async list(path: string): Promise<unknown[]> {
    const items: unknown[] = []
    const [place = '', query] = path.split('?')
    for (let next = `?${query === undefined ? '' : `${query}&`}limit=10000`; next !== ''; ) {
      const answer = await this.ask('GET', place + next)
      const text = await answer.text()
      if (!answer.ok) throw this.#refusal(answer, text)
      for (const item of JSON.parse(text) as unknown[]) items.push(item)
      next = /<([^>]*)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? ''
    }
    return items
  }

  /** An answer whose body is read as it comes. */
  async open(path: string, signal?: AbortSignal): Promise<Response> {
    const answer = await this.ask('GET', path, undefined, signal)
    if (answer.ok) return answer
    throw this.#refusal(answer, await answer.text())
  }

  async ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const { controlToken, fetch = globalThis.fetch } = this.#options
    const headers: Record<string, string> = {}
    if (controlToken !== undefined) headers.authorization = `Bearer ${controlToken}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    try {
      return await fetch(this.#addressOf(path), {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      throw new Error(`No server answers at ${this.#base}. Start one with "npx stuntdouble serve".`, { cause })
    }
  }
}
