import type { WarnOnce } from '../kernel/warn-once.js'
import type { CommandDescription } from './command/command-description.js'

// Notes about commands that the double accepts although the service may reject them. A note depends only on the
// command, not on the client.

export const most = 1000

/** Notes about commands that ran and that the service may reject. */
export class Diagnostics {
  readonly #sentences = new Set<string>()
  readonly #warn: WarnOnce | undefined
  /**
   * Whether the running command produced a note. It is a plain field instead of a getter, because every command reads
   * the field.
   */
  hasNew = false
  /** Notes about the running command, for its entry in the traffic log. */
  #latest = new Set<string>()
  #isPaused = false

  constructor(warn: WarnOnce | undefined) {
    this.#warn = warn
  }

  /** All notes without duplicates, in order of first occurrence. */
  get sentences(): readonly string[] {
    return [...this.#sentences]
  }

  notice(about: string, sentence: string): void {
    if (this.#isPaused) return
    this.#latest.add(sentence)
    this.hasNew = true
    if (this.#sentences.size < most) this.#sentences.add(sentence)
    this.#warn?.(about, sentence)
  }

  noticeUndocumented({ name }: Pick<CommandDescription, 'name'>): void {
    this.notice(
      name,
      `${name} has no page in the service's documentation, so the service may reject it. Set policy.commands to 'documented' to reject it too`,
    )
  }

  noticeBlock(name: string): void {
    this.notice(
      `${name} BLOCK`,
      `${name} with BLOCK does not wait over REST: it replied immediately, because the service supports no waiting over REST`,
    )
  }

  /**
   * Returns the notes since the last call and clears them. These notes belong to the command whose entry is being
   * written.
   */
  take(): string {
    const note = [...this.#latest].join('; ')
    this.#latest = new Set()
    this.hasNew = false
    return note
  }

  /** Runs `work` without recording notes. */
  pause<T>(work: () => T): T {
    this.#isPaused = true
    try {
      return work()
    } finally {
      this.#isPaused = false
    }
  }
}
