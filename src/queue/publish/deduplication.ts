import type { Account } from '../../kernel/account.js'
import { type Bytes, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { PublishSettings } from '../settings/message-settings.js'

/** Deduplication key in use, and the message or schedule that used it first. */
export interface Remembered<T> {
  readonly key: string
  readonly first: T
  readonly until: number
}

/**
 * Recognizes duplicates by their keys. Returns the message or schedule that used a key first, until the deduplication
 * window of this key ends. [queue.md 2.4]
 */
export class Deduplication<T> {
  readonly #window: number
  readonly #kept: Account
  readonly #weightOf: (first: T) => number
  /**
   * Keys in use, ordered by the end of their windows. A new key is added at the end, because all windows have the same
   * length.
   */
  readonly #remembered = new Map<string, { readonly first: T; readonly until: number }>()

  /**
   * @param window deduplication window in milliseconds
   * @param kept limits the memory for keys; if the limit is exceeded, the oldest keys are deleted before their windows
   *   end
   * @param weightOf returns the size of a message or schedule in bytes
   */
  constructor(window: number, kept: Account, weightOf: (first: T) => number) {
    this.#window = window
    this.#kept = kept
    this.#weightOf = weightOf
  }

  find(key: string, now: number): T | undefined {
    this.#forget(now)
    return this.#remembered.get(key)?.first
  }

  remember(key: string, first: T, now: number): void {
    this.#drop(key)
    this.restore(key, first, now + this.#window)
  }

  /** Returns all keys whose window has not ended, ordered by the end of the window. */
  remembered(now: number): readonly Remembered<T>[] {
    this.#forget(now)
    return [...this.#remembered].map(([key, { first, until }]) => ({ key, first, until }))
  }

  /** Restores a key from a dump. First restore the keys whose windows end first. */
  restore(key: string, first: T, until: number): void {
    this.#drop(key)
    this.#remembered.set(key, { first, until })
    this.#kept.put(key.length + this.#weightOf(first))
    for (const [oldest] of this.#remembered) {
      if (this.#kept.held <= this.#kept.limit || oldest === key) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const known = this.#remembered.get(key)
    if (known === undefined) return
    this.#remembered.delete(key)
    this.#kept.release(key.length + this.#weightOf(known.first))
  }

  #forget(now: number): void {
    for (const [key, { until }] of this.#remembered) {
      if (until > now) return
      this.#drop(key)
    }
  }
}

/**
 * Returns the deduplication key of a message. Returns `undefined` if its options request no deduplication. A
 * deduplication ID is valid for all destinations of the account. For a publish to a URL group, each endpoint has a key
 * of its own.
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
