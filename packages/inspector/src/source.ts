import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'

/** Facts about a sandbox, in addition to its entries. */
export interface PageFacts {
  /** Name of the tenant or of the file. */
  readonly name: string
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly now: number
  /** Absent in a recording. */
  readonly mode?: 'manual' | 'auto' | 'real'
  readonly seed?: number | string
  readonly headerPrefix?: string
  readonly addresses?: Readonly<Record<string, unknown>>
  /** The assertion that failed, in the page of a failed test. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** Whether a test waits until the reader continues it. */
  readonly canGoOn?: boolean
}

/** Receives updates of a source. Each list is in the order of `seq`. */
export interface PageListener {
  facts(facts: PageFacts): void
  /** Receives new entries, and entries again when they have ended. */
  entries(entries: readonly TraceEntry[]): void
  /** Receives the values that commands, loads and resets left at keys. */
  changes(changes: readonly KeyChange[]): void
  /** Called after a reset or a load: everything before belongs to another sandbox. */
  renewed(): void
  /** Receives the state of the connection between page and source. */
  connection(connection: Connection): void
}

export interface Connection {
  readonly state: 'loading' | 'ready' | 'lost'
  /** Why no data arrives, as a message. */
  readonly problem?: string
}

/** Source of the page's data: a control API, or a recording in the file. */
export interface PageSource {
  /** Loads the existing data, then follows new data. @returns a function that stops following */
  follow(listener: PageListener): () => void
  /** Control of a running sandbox; absent in a recording, which is read-only. */
  readonly control?: Control
}

/** The control API of one tenant. */
export interface Control {
  readonly tenant: string
  /**
   * Sends one request.
   * @param path path below `/_control/{tenant}`, such as `/clock/advance`
   * @throws Error with the server's message
   */
  ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>
  /** Returns the names of all tenants. */
  tenants(): Promise<readonly string[]>
  /** Returns the source of another tenant on the same server. */
  of(tenant: string): PageSource
}
