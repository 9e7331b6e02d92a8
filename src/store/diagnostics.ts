import type { CommandDescription } from './command/command-description.js'

// What the store accepts although the service may refuse it: a fact about the command, whoever sent it.

export const most = 1000

/** Warns of something once in the life of the process. @param about such as the name of a command */
export type WarnOnce = (about: string, sentence: string) => void

/** Sentences about commands that ran. */
export class Diagnostics {
  readonly #sentences = new Set<string>()
  readonly #warn: WarnOnce | undefined
  /** Whether something was noticed about the command that runs: a field, because every command looks at it. */
  hasNew = false
  /** What that was, for its entry. */
  #latest = new Set<string>()
  #isPaused = false

  constructor(warn: WarnOnce | undefined) {
    this.#warn = warn
  }

  /** Each sentence once, in the order in which they came up. */
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

  /** A command ran for which the service has no page. */
  noticeUndocumented({ name }: Pick<CommandDescription, 'name'>): void {
    this.notice(
      name,
      `${name} has no page in the service's documentation and may be refused there; policy.commands: 'documented' refuses it`,
    )
  }

  /** A command asked over REST to wait. */
  noticeBlock(name: string): void {
    this.notice(
      `${name} BLOCK`,
      `${name} with BLOCK does not wait over REST, where the service does not support it: it was answered at once`,
    )
  }

  /** What was noticed since it was last asked: about the command whose entry is written now. */
  take(): string {
    const note = [...this.#latest].join('; ')
    this.#latest = new Set()
    this.hasNew = false
    return note
  }

  /** Runs something that nobody shall hear of. */
  pause<T>(work: () => T): T {
    this.#isPaused = true
    try {
      return work()
    } finally {
      this.#isPaused = false
    }
  }
}
