import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'

/** Data of a sandbox other than its entries. */
export interface PageFacts {
  /** Name of the tenant, or of the recorded file. */
  readonly name: string
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly now: number
  /** Mode of the clock. Absent in a recording. */
  readonly mode?: 'manual' | 'auto' | 'real'
  readonly seed?: number | string
  readonly headerPrefix?: string
  readonly addresses?: Readonly<Record<string, unknown>>
  /** The failed assertion. Only the page of a failed test has one. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** Whether a test waits until the user of the page lets it continue. */
  readonly canGoOn?: boolean
}

/** Receives the data of a source. Each list is sorted by `seq`. */
export interface PageListener {
  facts(facts: PageFacts): void
  /** Receives new entries. An entry is sent again after it has ended, such as an attempt that got its response. */
  entries(entries: readonly TraceEntry[]): void
  /** Receives the values of keys after commands, loads and resets. */
  changes(changes: readonly KeyChange[]): void
  /** Called after a reset or a load. Data that was sent before this call belongs to the previous sandbox. */
  renewed(): void
  /** Receives the state of the connection between page and source. */
  connection(connection: Connection): void
}

export interface Connection {
  readonly state: 'loading' | 'ready' | 'lost'
  /** Error message, if no data arrives. */
  readonly problem?: string
}

/** Source of the data that a page shows: the control API of a server, or the recording in the page. */
export interface PageSource {
  /** Sends the existing data to a listener, then new data. @returns a function that stops sending */
  follow(listener: PageListener): () => void
  /** Control API of the sandbox. Absent in a recording, which is read-only. */
  readonly control?: Control
}

/** Control API of one tenant. */
export interface Control {
  readonly tenant: string
  /**
   * Sends one request.
   * @param path path below `/_control/{tenant}`, such as `/clock/advance`
   * @throws Error with the server's message
   */
  ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>
  tenants(): Promise<readonly string[]>
  /** Returns the source of another tenant on the same server. */
  of(tenant: string): PageSource
}
