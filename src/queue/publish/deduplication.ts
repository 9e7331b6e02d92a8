import { type Bytes, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { PublishSettings } from '../settings/settings.js'

/** What a key stands for, until its window is over. */
export interface Remembered<T> {
  readonly key: string
  readonly first: T
  readonly until: number
}

/** Which messages count as published already, and which schedules as created. [queue.md 2.4] */
export class Deduplication<T> {
  readonly #window: number
  /** In the order of their ends, because all windows are equally long. */
  readonly #remembered = new Map<string, { readonly first: T; readonly until: number }>()

  constructor(window: number) {
    this.#window = window
  }

  find(key: string, now: number): T | undefined {
    this.#forget(now)
    return this.#remembered.get(key)?.first
  }

  remember(key: string, first: T, now: number): void {
    this.#remembered.delete(key)
    this.#remembered.set(key, { first, until: now + this.#window })
  }

  /** Everything whose window is open, earliest end first. */
  remembered(now: number): readonly Remembered<T>[] {
    this.#forget(now)
    return [...this.#remembered].map(([key, { first, until }]) => ({ key, first, until }))
  }

  /** Puts back what was remembered, earliest end first. */
  restore(key: string, first: T, until: number): void {
    this.#remembered.set(key, { first, until })
  }

  #forget(now: number): void {
    for (const [key, { until }] of this.#remembered) {
      if (until > now) return
      this.#remembered.delete(key)
    }
  }
}

/**
 * The key under which a message is remembered, `undefined` when it asks for no deduplication. An id counts for the
 * whole account, within a group for each endpoint.
 */
export function deduplicationKey(
  settings: PublishSettings,
  url: string,
  body: Bytes,
  urlGroup?: string,
): string | undefined {
  if (settings.deduplicationId !== undefined) {
    return urlGroup === undefined ? `id ${settings.deduplicationId}` : `id ${settings.deduplicationId} ${url}`
  }
  if (!settings.contentBasedDeduplication) return undefined
  const headers = settings.headers.map(([name, value]) => `${name}: ${value}\n`).sort()
  return `content ${sha256Bytes((utf8(`${url}\n${headers.join('')}\n`) + body) as Bytes)}`
}
