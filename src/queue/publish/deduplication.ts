import type { Account } from '../../kernel/account.js'
import { type Bytes, utf8 } from '../../kernel/bytes.js'
import { sha256Bytes } from '../../kernel/digest.js'
import type { PublishSettings } from '../settings/message-settings.js'

/** First use of a key, until its window ends. */
export interface Remembered<T> {
  readonly key: string
  readonly first: T
  readonly until: number
}

/** Messages that count as published already, and schedules that count as created already. [queue.md 2.4] */
export class Deduplication<T> {
  readonly #window: number
  readonly #kept: Account
  readonly #weightOf: (first: T) => number
  /** In the order in which the windows end, because all windows have the same length. */
  readonly #remembered = new Map<string, { readonly first: T; readonly until: number }>()

  /** @param kept memory limit; beyond it the oldest keys are forgotten before their windows end */
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

  /** Returns all keys whose window is open, the earliest end first. */
  remembered(now: number): readonly Remembered<T>[] {
    this.#forget(now)
    return [...this.#remembered].map(([key, { first, until }]) => ({ key, first, until }))
  }

  /** Restores a remembered key. Keys come with the earliest end first. */
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
 * Returns the key under which a message is remembered; `undefined` if it requests no deduplication. An ID is valid for
 * the whole account, and within a URL group for each endpoint.
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
