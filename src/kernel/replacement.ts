import type { WarnOnce } from './warn-once.js'

/**
 * Whether a reset or load replaced the core of a sandbox. Then the objects of this core, such as its store, are outdated:
 * they neither show nor change the present state of the sandbox. A disposed sandbox or a fork replaces no core.
 */
export class Replacement {
  #by: ReplacedBy | undefined
  readonly #warnOnce: WarnOnce

  constructor(warnOnce: WarnOnce) {
    this.#warnOnce = warnOnce
  }

  /** What replaced the core, or `undefined` if the core is present or its sandbox was disposed. */
  get by(): ReplacedBy | undefined {
    return this.#by
  }

  /** Notes that a new core took the place of this one. */
  happened(by: ReplacedBy): void {
    this.#by = by
  }

  /**
   * Warns about the use of an outdated object. Work of an earlier test may still use it, so this is no error. Each kind
   * of object is reported once.
   * @param part how a test reads the present object from the sandbox: `store`, `queueIn('us-east-1')`
   * @param what beginning of the message: `store.run() was called on`
   */
  warnAbout(part: string, what: string): void {
    if (this.#by === undefined) return
    this.#warnOnce(
      `outdated ${part}`,
      `${what} an object ${fromBefore(this.#by)}, which the sandbox no longer uses: ${readAgain(part)}`,
    )
  }
}

export type ReplacedBy = 'reset' | 'load'

/** Returns since when an object is outdated, as a part of a message. */
export function fromBefore(by: ReplacedBy): string {
  return by === 'reset' ? 'from before a reset of its sandbox' : 'from before its sandbox loaded a dump'
}

/** Returns the advice for an outdated object. @param part how a test reads the present object from the sandbox */
export function readAgain(part: string): string {
  return `read sandbox.${part} in the test, not before it.`
}
