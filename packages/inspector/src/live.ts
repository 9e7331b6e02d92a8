import { type ServerEvent, serverEvents } from '../../../src/kernel/server-events.js'
import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import { ControlRejection } from './control-rejection.js'
import { databaseNames } from './models/shown-databases.js'
import type { Control, PageFacts, PageListener, PageSource } from './source.js'
import type { TakeToken } from './token.js'

/** Maximum number of entries that one response of the control API contains. */
const partSize = 10_000
/** If the server is unavailable, milliseconds of host time until the next attempt. */
const pause = 1_000
/**
 * Milliseconds of host time between two requests for the virtual time. Used if the clock of the sandbox follows the
 * host.
 */
const tick = 1_000

/** Returns a source for one tenant. Its data comes from the control API of the server. */
export function liveSource(tenant: string, token: TakeToken): PageSource & { readonly control: Control } {
  const control = new LiveControl(tenant, token)
  return { control, follow: (listener) => new Following(control, listener).end }
}

class LiveControl implements Control {
  readonly #token: TakeToken

  constructor(
    readonly tenant: string,
    token: TakeToken,
  ) {
    this.#token = token
  }

  async ask(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
    const answer = await this.open(`/${encodeURIComponent(this.tenant)}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const type = answer.headers.get('content-type') ?? ''
    return type.includes('json') ? answer.json() : answer.text()
  }

  async tenants(): Promise<readonly string[]> {
    const answer = await this.open('', {})
    return ((await answer.json()) as { tenants: string[] }).tenants
  }

  of(tenant: string): PageSource {
    return liveSource(tenant, this.#token)
  }

  /** @throws ControlRejection with the server's message */
  async open(path: string, init: RequestInit): Promise<Response> {
    const token = await this.#token()
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(`/_control${path}`, { ...init, headers, cache: 'no-store' })
    if (answer.ok) return answer
    throw await ControlRejection.of(answer)
  }
}

/**
 * Sends the entries of one sandbox to a listener: first the existing entries, then new ones. After an interruption, it
 * continues with the missing entries.
 */
class Following {
  readonly #abort = new AbortController()
  readonly #control: LiveControl
  readonly #listener: PageListener
  /** Entries that arrived recently. They are sent to the listener together. */
  #waiting: TraceEntry[] = []
  #last: TraceEntry | undefined
  /** `seq` of the last known change of each database. The first database has no name. */
  readonly #lastChanges = new Map<string | undefined, number>()
  #databases: readonly string[] = []
  #world = 0
  /**
   * `seq` of each entry that had not ended when it arrived. These entries are requested again, from the first one on.
   */
  readonly #open = new Set<number>()
  #isAsking = false
  #isStale = false
  #isDue = false
  #hasChanges = true
  /** Whether the clock follows the host. Virtual time then moves without an entry in the log. */
  #goesByItself = false

  constructor(control: LiveControl, listener: PageListener) {
    this.#control = control
    this.#listener = listener
    void this.#run()
    void this.#keepTime()
  }

  readonly end = (): void => this.#abort.abort()

  get #lastSeq(): number {
    return this.#last?.seq ?? 0
  }

  get #isOver(): boolean {
    return this.#abort.signal.aborted
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#ask()
        await this.#renewIfOther()
        await this.#bring()
        this.#listener.connection({ state: 'ready' })
        await this.#stream()
      } catch (error) {
        if (this.#isOver) return
        const why = error instanceof ControlRejection ? error.message : 'The server does not respond.'
        this.#listener.connection({ state: 'lost', problem: why })
        // If the server denies access, do not try again. The response would be the same.
        if (error instanceof ControlRejection && (error.status === 401 || error.status === 403)) return
      }
      await this.#sleep(pause)
    }
  }

  /**
   * After an interruption, another sandbox can have the same name. If the log contains another entry with the known
   * `seq`, starts again from the beginning.
   */
  async #renewIfOther(): Promise<void> {
    const known = this.#last
    if (known === undefined) return
    const answer = await this.#control.ask('GET', `/traffic?after=${known.seq - 1}&limit=1`)
    const [found] = listIn<TraceEntry>(answer, 'entries')
    const [before, now] = hasEnded(known) ? [known, found] : [stampOf(known), stampOf(found)]
    if (JSON.stringify(before) !== JSON.stringify(now)) this.#renew()
  }

  #renew(): void {
    this.#waiting = []
    this.#open.clear()
    this.#last = undefined
    this.#lastChanges.clear()
    this.#world++
    this.#listener.renewed()
  }

  /** Loads the existing entries in several requests. The entries of the first response are shown immediately. */
  async #bring(): Promise<void> {
    for (;;) {
      const path = `/traffic?after=${this.#lastSeq}&limit=${partSize}`
      const answer = await this.#control.ask('GET', path)
      const entries = listIn<TraceEntry>(answer, 'entries')
      this.#tell(entries)
      this.#flush()
      if (entries.length < partSize || this.#isOver) return
    }
  }

  async #stream(): Promise<void> {
    const after = Math.min(this.#lastSeq, ...[...this.#open].map((seq) => seq - 1))
    const path = `/${encodeURIComponent(this.#control.tenant)}/traffic/stream?after=${after}`
    const answer = await this.#control.open(path, { signal: this.#abort.signal })
    for await (const events of serverEvents(answer.body)) this.#take(events)
    throw new Error('The stream ended.')
  }

  #take(events: readonly ServerEvent[]): void {
    for (const { name, data } of events) {
      if (name === 'reset') this.#renew()
      else this.#tell([JSON.parse(data) as TraceEntry])
    }
    this.#later()
  }

  #tell(entries: readonly TraceEntry[]): void {
    for (const entry of entries) {
      this.#waiting.push(entry)
      if (entry.seq > this.#lastSeq) this.#last = entry
      if (hasEnded(entry)) this.#open.delete(entry.seq)
      else this.#open.add(entry.seq)
    }
  }

  #later(): void {
    if (this.#isDue) return
    this.#isDue = true
    // Use a timer, because animation frames do not run in a background page.
    setTimeout(() => {
      this.#isDue = false
      if (!this.#isOver) this.#flush()
    }, 30)
  }

  #flush(): void {
    const entries = this.#waiting
    this.#waiting = []
    if (entries.length > 0) this.#listener.entries(entries)
    // Ignore errors here. If the server is unavailable, the stream reports that.
    this.#ask().catch(() => undefined)
  }

  /** Loads facts about the sandbox, and changes of the store. At most one request runs at a time. */
  async #ask(): Promise<void> {
    if (this.#isAsking) {
      this.#isStale = true
      return
    }
    this.#isAsking = true
    try {
      do {
        this.#isStale = false
        await this.#askFacts()
        for (const database of [undefined, ...this.#databases]) await this.#askChanges(database)
      } while (this.#isStale && !this.#isOver)
    } finally {
      this.#isAsking = false
    }
  }

  async #askFacts(): Promise<void> {
    const facts = (await this.#control.ask('GET', '/inspector')) as PageFacts
    this.#goesByItself = facts.mode === 'real'
    this.#databases = databaseNames(facts.addresses)
    this.#listener.facts(facts)
  }

  async #askChanges(database: string | undefined): Promise<void> {
    const world = this.#world
    for (;;) {
      const after = this.#lastChanges.get(database) ?? 0
      const of = database === undefined ? '' : `&database=${encodeURIComponent(database)}`
      const path = `/store/changes?after=${after}&limit=${partSize}${of}`
      if (!this.#hasChanges) return
      const answer = await this.#control.ask('GET', path).catch((error) => {
        // If the server has no history of the store's changes, it rejects this request. Do not send it again.
        if (!(error instanceof ControlRejection) || error.status >= 500) throw error
        this.#hasChanges = false
      })
      const changes = listIn<KeyChange>(answer, 'changes')
      if (world !== this.#world || changes.length === 0) return
      this.#lastChanges.set(database, changes.at(-1)!.seq)
      this.#listener.changes(database === undefined ? changes : changes.map((change) => ({ ...change, database })))
      if (changes.length < partSize) return
    }
  }

  /** Requests the virtual time regularly while the clock follows the host and the page is visible. */
  async #keepTime(): Promise<void> {
    while (!this.#isOver) {
      await this.#sleep(tick)
      if (document.hidden || !this.#goesByItself || this.#isAsking || this.#isOver) continue
      await this.#askFacts().catch(() => undefined)
    }
  }

  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds))
  }
}

function hasEnded(entry: TraceEntry): boolean {
  if (entry.type === 'request' || entry.type === 'outbound') return entry.response !== undefined
  if (entry.type === 'attempt') return entry.outcome !== undefined
  return entry.type !== 'clock' || entry.to !== undefined
}

/** Returns the fields of an entry that stay the same when the entry ends. */
function stampOf(entry: TraceEntry | undefined): unknown {
  return [entry?.seq, entry?.type, entry?.at, entry?.url]
}

function listIn<T>(answer: unknown, name: string): readonly T[] {
  if (Array.isArray(answer)) return answer as T[]
  const list = (answer as Record<string, unknown> | undefined)?.[name]
  return Array.isArray(list) ? (list as T[]) : []
}
