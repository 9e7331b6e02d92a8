import type { Sandbox } from 'stuntdouble'
import type { Sight } from './request-faults.js'
import type { Need } from './transport.js'

/** One way on which requests reach a sandbox. */
export interface Way {
  readonly sandbox: Sandbox
  readonly fetch: typeof globalThis.fetch
}

export interface Case {
  readonly title: string
  readonly need: Need
  run(client: Client): Promise<void>
}

/** The three APIs as a client of one way speaks to them. */
export class Client {
  readonly sandbox: Sandbox
  readonly fetch: typeof globalThis.fetch

  constructor(
    { sandbox, fetch }: Way,
    /** What its way shows of faults. */
    readonly sight: Sight = {},
  ) {
    this.sandbox = sandbox
    this.fetch = fetch
  }

  store(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    return this.#ask(`${this.sandbox.addresses.store}${path}`, this.sandbox.tokens.store, init)
  }

  async command(...words: (string | number)[]): Promise<unknown> {
    const answer = await this.store('', { method: 'POST', body: JSON.stringify(words) })
    return answer.json()
  }

  queue(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    return this.#ask(`${this.sandbox.addresses.queue}/v2${path}`, this.sandbox.tokens.queue, init)
  }

  stats(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    const { mgmtUser, mgmtKey } = this.sandbox.tokens
    const authorization = `Basic ${btoa(`${mgmtUser}:${mgmtKey}`)}`
    const { token, ...rest } = init
    return this.fetch(`${this.sandbox.addresses.mgmt}/v2${path}`, {
      ...rest,
      headers: token === null ? {} : { authorization },
    })
  }

  #ask(
    url: string,
    own: string,
    { token = own, headers, ...init }: RequestInit & { readonly token?: string | null },
  ): Promise<Response> {
    const signed = token === null ? {} : { authorization: `Bearer ${token}` }
    return this.fetch(url, { ...init, headers: { ...signed, ...(headers as Record<string, string>) } })
  }
}

export const post = (body: BodyInit | object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  headers,
})

export const shop = 'https://shop.test/orders'

export function one(need: Need, title: string, run: (client: Client) => Promise<void>): Case {
  return { title, need, run }
}

/** Moves time until a call has its end. */
export async function movedUntil<T>({ sandbox }: Client, work: Promise<T>): Promise<T> {
  let over = false
  const done = work.finally(() => {
    over = true
  })
  done.catch(() => undefined)
  while (!over) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    await sandbox.clock.drain()
  }
  return done
}
