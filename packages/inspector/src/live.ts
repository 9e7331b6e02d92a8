import { type ServerEvent, serverEvents } from '../../../src/kernel/server-events.js'
import type { TraceEntry } from '../../../src/report/trace.js'
import type { KeyChange } from '../../../src/store/history/key-change.js'
import { ControlRejection } from './control-rejection.js'
import type { Control, PageFacts, PageListener, PageSource } from './source.js'
import type { TakeToken } from './token.js'

/** The most that the control API answers at once. */
const partSize = 10_000
/** Host time between two attempts to reach a server that is gone, in milliseconds. */
const pause = 1_000
/** How often the time of a world is asked for that goes with the host's. */
const tick = 1_000

/** The control API of the server that the page comes from, as a source of one tenant. */
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

  /** @throws Refusal with the sentence of the server */
  async open(path: string, init: RequestInit): Promise<Response> {
    const token = await this.#token()
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await fetch(`/_control${path}`, { ...init, headers, cache: 'no-store' })
    if (answer.ok) return answer
    throw await ControlRejection.of(answer)
  }
}

/** One reader of one world: what is there, then what comes, and again after a break. */
class Following {
  readonly #abort = new AbortController()
  readonly #control: LiveControl
  readonly #listener: PageListener
  /** Entries that came within one frame are told together. */
  #waiting: TraceEntry[] = []
  #last: TraceEntry | undefined
  #lastChange = 0
  #world = 0
  /** Of the entries that had not ended when they came, the first: from there on they are asked for again. */
  readonly #open = new Set<number>()
  #isAsking = false
  #isStale = false
  #isDue = false
  #hasChanges = true
  /** Whether time moves without an entry that tells of it. */
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
        const why = error instanceof ControlRejection ? error.message : 'The server does not answer.'
        this.#listener.connection({ state: 'lost', problem: why })
        // Without a right to look, asking again changes nothing.
        if (error instanceof ControlRejection && (error.status === 401 || error.status === 403)) return
      }
      await this.#sleep(pause)
    }
  }

  /** Behind a break another world may have taken the place of the one before: then its log goes on otherwise. */
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
    this.#lastChange = 0
    this.#world++
    this.#listener.renewed()
  }

  /** What is there already, part by part, the first one to be seen at once. */
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
    // Not by frames: a page in the background has none.
    setTimeout(() => {
      this.#isDue = false
      if (!this.#isOver) this.#flush()
    }, 30)
  }

  #flush(): void {
    const entries = this.#waiting
    this.#waiting = []
    if (entries.length > 0) this.#listener.entries(entries)
    // A server that is gone is told of by the stream.
    this.#ask().catch(() => undefined)
  }

  /** Facts and changes of the store, never twice at once. */
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
        await this.#askChanges()
      } while (this.#isStale && !this.#isOver)
    } finally {
      this.#isAsking = false
    }
  }

  async #askFacts(): Promise<void> {
    const facts = (await this.#control.ask('GET', '/inspector')) as PageFacts
    this.#goesByItself = facts.mode === 'real'
    this.#listener.facts(facts)
  }

  async #askChanges(): Promise<void> {
    const world = this.#world
    for (;;) {
      const path = `/store/changes?after=${this.#lastChange}&limit=${partSize}`
      if (!this.#hasChanges) return
      const answer = await this.#control.ask('GET', path).catch((error) => {
        // A world whose history is not kept has no changes to tell.
        if (!(error instanceof ControlRejection) || error.status >= 500) throw error
        this.#hasChanges = false
      })
      const changes = listIn<KeyChange>(answer, 'changes')
      if (world !== this.#world || changes.length === 0) return
      this.#lastChange = changes.at(-1)!.seq
      this.#listener.changes(changes)
      if (changes.length < partSize) return
    }
  }

  /** Time that goes by itself is asked for, as long as somebody looks. */
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

/** What stays of an entry when it ends. */
function stampOf(entry: TraceEntry | undefined): unknown {
  return [entry?.seq, entry?.type, entry?.at, entry?.url]
}

function listIn<T>(answer: unknown, name: string): readonly T[] {
  if (Array.isArray(answer)) return answer as T[]
  const list = (answer as Record<string, unknown> | undefined)?.[name]
  return Array.isArray(list) ? (list as T[]) : []
}
