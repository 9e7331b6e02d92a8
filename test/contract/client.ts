import type { Sandbox } from 'stuntdouble'
import type { ConnectedSandbox } from './adapter.js'
import type { FaultVisibility } from './request-faults.js'
import type { Need } from './transport.js'

export interface Case {
  readonly title: string
  readonly need: Need
  /** Adapters that run the case in addition to `sandbox.fetch`. Default: none. */
  readonly repeat?: Repeat
  /** Name under which an adapter states what its clients observe instead. */
  readonly fault?: string
  run(client: Client): Promise<void>
}

/**
 * `'each adapter'`: the outcome depends on the adapter. `'without echoes'`: adapters with the echo service prove the
 * same with it, the others run the case.
 */
type Repeat = 'each adapter' | 'without echoes'

/** The three APIs as a client of one adapter calls them. */
export class Client {
  readonly sandbox: Sandbox
  readonly fetch: typeof globalThis.fetch

  constructor(
    { sandbox, fetch }: Pick<ConnectedSandbox, 'sandbox' | 'fetch'>,
    /** Effects of faults that its adapter shows. */
    readonly visibility: FaultVisibility = {},
  ) {
    this.sandbox = sandbox
    this.fetch = fetch
  }

  store(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    return this.#ask(`${this.sandbox.urls.store}${path}`, this.sandbox.tokens.store, init)
  }

  async command(...words: (string | number)[]): Promise<unknown> {
    const answer = await this.store('', { method: 'POST', body: JSON.stringify(words) })
    return answer.json()
  }

  queue(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    return this.#ask(`${this.sandbox.urls.queue}/v2${path}`, this.sandbox.tokens.queue, init)
  }

  stats(path: string, init: RequestInit & { readonly token?: string | null } = {}): Promise<Response> {
    const { mgmtUser, mgmtKey } = this.sandbox.tokens
    const authorization = `Basic ${btoa(`${mgmtUser}:${mgmtKey}`)}`
    const { token, ...rest } = init
    return this.fetch(`${this.sandbox.urls.mgmt}/v2${path}`, {
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

/** Creates a case about a service, which runs through `sandbox.fetch` only. */
export function one(need: Need, title: string, run: Case['run']): Case {
  return { title, need, run }
}

/** Creates a case about transport, for adapters that cannot connect to the echo service. */
export function transport(need: Need, title: string, run: Case['run']): Case {
  return { title, need, run, repeat: 'without echoes' }
}

/** Creates a case whose outcome depends on the adapter: a way in which responses fail. */
export function onEachAdapter(given: Case): Case {
  return { ...given, repeat: 'each adapter' }
}

/** Moves time until a call has ended. */
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
