import type { Bytes } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import { Attempt } from '../message/message-entries.js'
import type { DeliveryContext } from './delivery-context.js'

/**
 * Copy of an attempt with another body. It is sent to the endpoint only to find out how the endpoint responds to this
 * body.
 */
export class ProbeAttempt extends Attempt {
  readonly #original: Attempt
  readonly #body: Bytes

  constructor(original: Attempt, body: Bytes) {
    super(original.message, original.key, original.writer, original.number)
    if (original.signing !== undefined) this.signing = original.signing
    this.#original = original
    this.#body = body
    this.at = original.at
    this.seq = original.seq
  }

  override get url(): string {
    return this.#original.url
  }

  override get body(): Bytes {
    return this.#body
  }

  /** SHA-256 of the body of this copy. The hash that the message stores is that of the original body. */
  override get bodyHash(): Bytes {
    return sha256Bytes(this.#body)
  }
}

/**
 * Returns a context in which sleeping takes no time. A probe runs the handler an additional time, and only the run for
 * the attempt itself may take time.
 */
export function inNoTime(context: DeliveryContext): DeliveryContext {
  const { task } = context
  return {
    timeout: context.timeout,
    longestBody: context.longestBody,
    task: { label: task.label, sleep: () => Promise.resolve() },
    signal: context.signal,
    onTimeout: (run) => context.onTimeout(run),
    waits: () => context.waits(),
    now: () => context.now(),
    draw: (below) => context.draw(below),
    again: (afterMs, run, when) => context.again(afterMs, run, when),
  }
}
