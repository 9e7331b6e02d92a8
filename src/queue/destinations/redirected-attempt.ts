import type { Bytes } from '../../kernel/bytes.js'
import { Attempt } from '../message/message-entries.js'

/** Copy of an attempt for the target URL of a redirect. */
export class RedirectedAttempt extends Attempt {
  readonly #url: string
  readonly #method: string
  readonly #original: Attempt

  constructor(original: Attempt, url: string, method: string) {
    super(original.message, original.key, { headers: () => original.headers }, original.number)
    if (original.signing !== undefined) this.signing = original.signing
    this.#original = original
    this.#url = url
    this.#method = method
    this.at = original.at
    this.seq = original.seq
  }

  override get url(): string {
    return this.#url
  }

  override get method(): string {
    return this.#method
  }

  override get body(): Bytes {
    return this.#method === 'GET' ? ('' as Bytes) : this.#original.body
  }
}
