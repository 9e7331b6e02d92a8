import { type Bytes, fromArray, latin1, toArray, utf8 } from '../../src/kernel/bytes.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'

/** A response with its body as a byte string, and as JSON if possible. */
export interface Asked {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes | null
  readonly json: unknown
}

export interface AskOptions {
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** `undefined` signs in with the standard token, `null` does not sign in. */
  readonly token?: string | null
}

/** Sends raw requests to the data store, without a client that normalizes the path. */
export class Rest {
  constructor(readonly sandbox: Sandbox) {}

  static open(options: SandboxOptions = {}): Rest {
    return new Rest(createSandbox(options))
  }

  async ask(method: string, path: string, { body, headers = {}, token }: AskOptions = {}): Promise<Asked> {
    const bearer = token === undefined ? this.sandbox.tokens.store : token
    const sent = body === undefined ? latin1('') : typeof body === 'string' ? utf8(body) : fromArray(body)
    const answer = await this.sandbox.exchange({
      method,
      url: this.sandbox.urls.store + path,
      headers: [
        ...(bearer === null ? [] : [['authorization', `Bearer ${bearer}`] as const]),
        ...Object.entries(headers),
      ],
      body: () => sent,
    })
    if (answer.body !== null && typeof answer.body !== 'string') throw new Error('the answer is a stream')
    const asked = { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body }
    return { ...asked, json: jsonOf(asked.headers['content-type'], answer.body) }
  }

  get(path: string, options?: AskOptions): Promise<Asked> {
    return this.ask('GET', path, options)
  }

  post(path: string, body?: unknown, options: AskOptions = {}): Promise<Asked> {
    if (body === undefined) return this.ask('POST', path, options)
    const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
    return this.ask('POST', path, { ...options, body: sent })
  }

  /** Returns the result of one command posted as JSON. @throws Error for an error response */
  async run(...argv: (string | number)[]): Promise<unknown> {
    const { json } = await this.post('/', argv)
    if ('error' in (json as object)) throw new Error(String((json as { error: string }).error))
    return (json as { result: unknown }).result
  }
}

function jsonOf(contentType: string | undefined, body: Bytes | null): unknown {
  if (body === null || body === '' || contentType !== 'application/json') return undefined
  return JSON.parse(new TextDecoder().decode(toArray(body)))
}
