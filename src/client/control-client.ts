import { parsedJson } from '../kernel/parsed-json.js'
import { carryFailure } from '../report/failure.js'
import { ReplyError } from '../store/command/reply.js'

/** Options of `connect()`. */
export interface ConnectOptions {
  /** Name of the tenant, an isolated sandbox on the server. Default `main`. */
  readonly tenant?: string
  /** Token that clients on other machines must send. The server sets it with `stuntdouble serve --control-token`. */
  readonly controlToken?: string
  /** Function that sends requests. Default: the global `fetch` at the time of each request. */
  readonly fetch?: typeof globalThis.fetch
}

type Json = Readonly<Record<string, unknown>>

/**
 * A region of the queue and the workflows, or a database of the data store. Default: the home region, and the first
 * database.
 */
interface PartOfTenant {
  readonly region?: string
  readonly database?: string
}

/** Sends requests to the control API of one tenant. */
export class ControlClient {
  readonly #url: string
  readonly #base: string
  readonly #options: ConnectOptions

  readonly #part: PartOfTenant

  constructor(url: string, options: ConnectOptions, part: PartOfTenant = {}) {
    if (!URL.canParse(url))
      throw new TypeError(
        `connect(): the first argument must be the URL of a server, such as http://localhost:4010 (got ${JSON.stringify(url)}).`,
      )
    this.#base = `${url.replace(/\/+$/, '')}/_control/${encodeURIComponent(options.tenant ?? 'main')}`
    this.#options = options
    this.#url = url
    this.#part = part
  }

  /** Returns a client for the queue and the workflows of a region. */
  in(region: string): ControlClient {
    return new ControlClient(this.#url, this.#options, { region })
  }

  /** Returns a client for a database of the data store. */
  ofDatabase(database: string): ControlClient {
    return new ControlClient(this.#url, this.#options, { database })
  }

  /** Returns a client for another tenant of the same server. */
  to(tenant: string): ControlClient {
    return new ControlClient(this.#url, { ...this.#options, tenant })
  }

  #addressOf(path: string): string {
    const [[name, value] = []] = Object.entries(this.#part)
    // The link to the next page of a list already contains the parameter.
    if (name === undefined || value === undefined || path.includes(`?${name}=`) || path.includes(`&${name}=`))
      return this.#base + path
    return `${this.#base}${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
  }

  /** URL of the tenant. */
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

  /**
   * Returns the error for a response that cannot come from a stuntdouble server.
   * @param answered description of the response
   */
  foreign(answered: string): Error {
    return new Error(
      `The server at ${this.#base} is not a stuntdouble server (it responded with ${answered}). Check the URL and its port, or start one with "npx stuntdouble serve".`,
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

  /** Returns all items of a list, fetched page by page. */
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

  /** Returns a response whose body the caller reads as a stream. */
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
      throw new Error(`No server responds at ${this.#base}. Start one with "npx stuntdouble serve".`, { cause })
    }
  }
}
