import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'

/** What a page says of a world beside its entries. */
export interface PageFacts {
  /** Name of the tenant, or of the file. */
  readonly name: string
  /** Virtual time, milliseconds since the Unix epoch. */
  readonly now: number
  /** Absent in a recording. */
  readonly mode?: 'manual' | 'auto' | 'real'
  readonly seed?: number | string
  readonly headerPrefix?: string
  readonly addresses?: Readonly<Record<string, unknown>>
  /** The assertion that failed, of a page that a failed test leaves behind. */
  readonly failure?: { readonly message: string; readonly nearest?: number }
  /** A test waits until somebody lets it go on. */
  readonly canGoOn?: boolean
}

/** Who listens to a source. Each list is in the order of `seq`. */
export interface PageListener {
  facts(facts: PageFacts): void
  /** New ones, and ones that have ended since they came first. */
  entries(entries: readonly TraceEntry[]): void
  /** What commands, loads and resets left at keys. */
  changes(changes: readonly KeyChange[]): void
  /** The world was reset or loaded: everything that came before is of another world. */
  renewed(): void
  /** How it stands between page and source. */
  connection(connection: Connection): void
}

export interface Connection {
  readonly state: 'loading' | 'ready' | 'lost'
  /** Why nothing comes, as a sentence. */
  readonly problem?: string
}

/** Where the page has its facts from: a control API, or a recording in the file. */
export interface PageSource {
  /** Brings what is there already, and what comes. @returns what ends it */
  follow(listener: PageListener): () => void
  /** What a running world can be told; absent in a recording, where everything only reads. */
  readonly control?: Control
}

/** The control API of one tenant. */
export interface Control {
  readonly tenant: string
  /**
   * One order.
   * @param path below `/_control/{tenant}`: `/clock/advance`
   * @throws Error with the sentence that the server answered
   */
  ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown>
  /** Names of all tenants. */
  tenants(): Promise<readonly string[]>
  /** The source of another tenant on the same server. */
  of(tenant: string): PageSource
}
