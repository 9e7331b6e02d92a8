import { createHash, randomBytes } from 'node:crypto'
import { hostTime } from '../../../../src/kernel/host.js'
import { json } from '../../../../src/protocol/call.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'

/** Lifetime of a link, in milliseconds of host time. After it, the page explains how to get another link. */
export const linkLifetime = 3_600_000
/** Maximum number of unused links. Above it, the oldest link becomes invalid. */
export const maxLinks = 1_000

const own = /^\/_inspector\/(token|link)(?:[?#]|$)/

/**
 * Links to the page of the inspector. If the control API needs a token, the fragment of a link contains a code, which
 * the page can exchange for the token once. No URL contains the token itself, because browsers keep URLs in their
 * history and expose them to scripts in navigation timing.
 */
export class InspectorLinks {
  readonly #token: string | undefined
  readonly #origin: string
  /**
   * Expiration time of each code. The keys are hashes of the codes, so that the duration of a lookup reveals nothing
   * about a code.
   */
  readonly #codes = new Map<string, number>()

  /** @param origin origin of the server, such as http://127.0.0.1:4010 */
  constructor(token: string | undefined, origin: string) {
    this.#token = token
    this.#origin = origin
  }

  next(): string {
    if (this.#token === undefined) return `${this.#origin}/`
    const code = randomBytes(24).toString('base64url')
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size < maxLinks) break
      this.#codes.delete(oldest)
    }
    this.#codes.set(hash(code), hostTime() + linkLifetime)
    return `${this.#origin}/#code=${code}`
  }

  /**
   * Handles two kinds of requests: exchanging a code for the token, and getting a new link. Returns `undefined` for
   * other paths. Codes and tokens are in a header, so that no body must be read.
   * @param mayControl returns whether a request has the token
   */
  answer(call: RawRequest, path: string, mayControl: (call: RawRequest) => boolean): RawResponse | undefined {
    const [, what] = own.exec(path) ?? []
    if (what === undefined) return undefined
    if (call.method !== 'POST') return json({ error: `/_inspector/${what} takes POST (got ${call.method}).` }, 405)
    if (what === 'link')
      return mayControl(call) ? json({ link: this.next() }, 200, notKept) : json({ error: noLink }, 401)
    const token = this.#token
    if (token === undefined || !this.#takes(call)) return json({ error: noCode }, 403, notKept)
    return json({ token }, 200, notKept)
  }

  #takes({ headers }: RawRequest): boolean {
    const given = headers.find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? ''
    const code = hash(given.replace(/^Bearer /, ''))
    const until = this.#codes.get(code)
    this.#codes.delete(code)
    return until !== undefined && hostTime() < until
  }
}

const notKept = [['cache-control', 'no-store']] as const

const noCode =
  'This link was used already or has expired. Get a new one with POST /_inspector/link and the control token as Authorization: Bearer TOKEN.'

const noLink = 'A link to the inspector requires the control token. Send it as Authorization: Bearer TOKEN.'

function hash(code: string): string {
  return createHash('sha256').update(code).digest('base64')
}
