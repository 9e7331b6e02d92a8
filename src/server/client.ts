import type { Addresses } from '../http/address.js'
import { fromArray, toBase64 } from '../kernel/bytes.js'
import { type Instant, instant, type VirtualClock } from '../kernel/clock.js'
import type { Duration } from '../kernel/duration.js'
import type { PlainAnswer } from '../queue/destinations.js'
import type { DirectPublish } from '../queue/queue.js'
import type { Step } from '../queue/script.js'
import type { SignatureFlaw, SignedRequest } from '../queue/signature-lab.js'
import type { SigningKeyPair } from '../queue/signing.js'
import type { GroupEndpoint } from '../queue/url-groups.js'
import type { SandboxTokens } from '../sandbox.js'
import type { DirectStore, PlainReply, Word } from '../store/direct.js'
import type { Spend } from '../store/meter.js'
import { ReplyError } from '../store/reply.js'
import type { StoreDifference, StoreDump } from '../store/snapshot.js'
import { RemoteStatistics } from './remote-stats.js'
import type { DeadLetterView, MessageView, ScheduleView, UrlGroupView, Wire } from './views.js'
import { bytesOfWire, replyOfWire, type WireReply, wireWord } from './wire-value.js'

export interface ConnectOptions {
  /** The world of its own on the server. Default `main`. */
  readonly tenant?: string
  /** What the server asks of those who are not on its machine: `stuntdouble serve --control-token`. */
  readonly controlToken?: string
  /** Default: the global `fetch` of the moment of the call. */
  readonly fetch?: typeof globalThis.fetch
}

/** A method or property as its remote twin: the same arguments, a promise of what it gives. */
type Asked<T> = T extends (...given: never[]) => unknown
  ? (...given: Parameters<T>) => Promise<Awaited<ReturnType<T>>>
  : Promise<T>
type Twin<T, Names extends keyof T> = { readonly [Name in Names]: Asked<T[Name]> }

/**
 * Connects with a tenant of a running server; the tenant is made on first use.
 * @throws Error when nobody listens there, with the command that starts a server
 * @example
 * await using sandbox = await connect('http://localhost:4010', { tenant: `w${process.env.TEST_WORKER_INDEX}` })
 * await sandbox.clock.advance('5m')
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<RemoteSandbox> {
  const wire = new ControlWire(url, options)
  return new RemoteSandbox(wire, (await wire.get('')) as TenantFacts)
}

interface TenantFacts {
  readonly addresses: Addresses
  readonly env: Readonly<Record<string, string>>
  readonly tokens: SandboxTokens
}

type Json = Readonly<Record<string, unknown>>

/** Requests to the control API of one tenant. */
export class ControlWire {
  readonly #base: string
  readonly #options: ConnectOptions

  constructor(url: string, options: ConnectOptions) {
    if (!URL.canParse(url))
      throw new TypeError(`connect() needs the address of a server, such as http://localhost:4010.`)
    this.#base = `${url.replace(/\/+$/, '')}/_control/${encodeURIComponent(options.tenant ?? 'main')}`
    this.#options = options
  }

  get(path: string): Promise<unknown> {
    return this.send('GET', path)
  }

  post(path: string, body: Json = {}): Promise<unknown> {
    return this.send('POST', path, body)
  }

  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await this.ask(method, path, body)
    const text = await answer.text()
    if (answer.ok) return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
    throw refusal(text)
  }

  async ask(method: string, path: string, body?: unknown): Promise<Response> {
    const { controlToken, fetch = globalThis.fetch } = this.#options
    const headers: Record<string, string> = {}
    if (controlToken !== undefined) headers.authorization = `Bearer ${controlToken}`
    if (body !== undefined) headers['content-type'] = 'application/json'
    try {
      return await fetch(this.#base + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    } catch (cause) {
      throw new Error(`No server answers at ${this.#base}. Start one with "npx stuntdouble serve".`, { cause })
    }
  }
}

function refusal(text: string): Error {
  try {
    const { error, reply } = JSON.parse(text) as { error: string; reply?: boolean }
    return reply === true ? new ReplyError(error) : new Error(error)
  } catch {
    return new Error(text)
  }
}

/**
 * A tenant of a server, with the shape of a sandbox: what a `Sandbox` gives at once, this promises. Code that awaits
 * every answer runs against either.
 */
export class RemoteSandbox implements AsyncDisposable {
  readonly clock: RemoteClock
  readonly store: RemoteStore
  readonly queue: RemoteQueue
  readonly destinations: RemoteDestinations
  readonly stats: RemoteStatistics
  readonly #wire: ControlWire
  #facts: TenantFacts

  /** @internal Use `connect()`. */
  constructor(wire: ControlWire, facts: TenantFacts) {
    this.#wire = wire
    this.#facts = facts
    const refresh = (): Promise<void> => this.#refresh()
    this.clock = new RemoteClock(wire)
    this.store = new RemoteStore(wire, refresh)
    this.queue = new RemoteQueue(wire, refresh)
    this.destinations = new RemoteDestinations(wire)
    this.stats = new RemoteStatistics(wire)
  }

  get addresses(): Addresses {
    return this.#facts.addresses
  }

  get tokens(): SandboxTokens {
    return this.#facts.tokens
  }

  /** @example Object.assign(process.env, sandbox.env) */
  get env(): Readonly<Record<string, string>> {
    return this.#facts.env
  }

  owns(url: string): boolean {
    const { store, queue, mgmt, regions } = this.addresses
    return [store, queue, mgmt, ...Object.values(regions)].some((base) => url === base || url.startsWith(`${base}/`))
  }

  /** The tenant's world as new. */
  async reset(): Promise<void> {
    await this.#wire.post('/reset')
    await this.#refresh()
  }

  /** Leaves the tenant as it is: others may use it. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #refresh(): Promise<void> {
    this.#facts = (await this.#wire.get('')) as TenantFacts
  }
}

class RemoteClock implements Twin<VirtualClock, 'now' | 'advance' | 'advanceTo' | 'drain' | 'settled'> {
  readonly #wire: ControlWire

  constructor(wire: ControlWire) {
    this.#wire = wire
  }

  async now(): Promise<number> {
    return ((await this.#wire.get('/clock')) as { milliseconds: number }).milliseconds
  }

  async pending(): Promise<readonly { readonly at: number; readonly label: string; readonly background: boolean }[]> {
    const { pending } = (await this.#wire.get('/clock')) as {
      pending: { at: string; label: string; background: boolean }[]
    }
    return pending.map((timer) => ({ ...timer, at: instant(timer.at) }))
  }

  async advance(by: Duration): Promise<void> {
    await this.#wire.post('/clock/advance', { by })
  }

  async advanceTo(at: Instant): Promise<void> {
    await this.#wire.post('/clock/advance-to', { at: instant(at) })
  }

  async drain(options: { budget?: number } = {}): Promise<void> {
    await this.#wire.post('/clock/drain', options)
  }

  async settled(): Promise<void> {
    await this.#wire.post('/clock/settled')
  }
}

class RemoteStore implements Twin<DirectStore, 'run' | 'get' | 'dump' | 'load' | 'diff' | 'spend' | 'resetPassword'> {
  readonly #wire: ControlWire
  readonly #refresh: () => Promise<void>

  constructor(wire: ControlWire, refresh: () => Promise<void>) {
    this.#wire = wire
    this.#refresh = refresh
  }

  async run(...words: readonly Word[]): Promise<PlainReply> {
    const { reply } = (await this.#wire.post('/store/run', { command: words.map(wireWord) })) as { reply: WireReply }
    return replyOfWire(reply)
  }

  async get(key: string | Uint8Array): Promise<string | null> {
    return ((await this.#wire.post('/store/get', { key: wireWord(key) })) as { value: string | null }).value
  }

  async dump(): Promise<StoreDump> {
    return (await this.#wire.get('/store/dump')) as StoreDump
  }

  async load(dump: StoreDump): Promise<void> {
    await this.#wire.send('PUT', '/store/dump', dump)
  }

  async diff(before: StoreDump): Promise<StoreDifference> {
    return (await this.#wire.post('/store/diff', { before })) as StoreDifference
  }

  async spend(): Promise<Spend> {
    return (await this.#wire.get('/store/spend')) as Spend
  }

  async resetPassword(): ReturnType<Twin<DirectStore, 'resetPassword'>['resetPassword']> {
    const tokens = (await this.#wire.post('/store/reset-password')) as ReturnType<DirectStore['resetPassword']>
    await this.#refresh()
    return tokens
  }
}

class RemoteQueue {
  readonly keys: RemoteKeys
  readonly schedules: RemoteSchedules
  readonly #wire: ControlWire

  constructor(wire: ControlWire, refresh: () => Promise<void>) {
    this.#wire = wire
    this.keys = new RemoteKeys(wire, refresh)
    this.schedules = new RemoteSchedules(wire)
  }

  async publish({ body, ...direct }: DirectPublish): Promise<MessageView | readonly MessageView[]> {
    const given = body instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(body)) } } : { body }
    return viewed(await this.#wire.post('/queue/publish', { ...direct, ...given }))
  }

  /** Every message that has not ended. */
  get messages(): Promise<readonly MessageView[]> {
    return this.#wire.get('/queue/messages').then((wire) => (wire as Wire<MessageView>[]).map(messageOfWire))
  }

  get deadLetters(): Promise<readonly DeadLetterView[]> {
    return this.#wire.get('/queue/dead-letters').then((wire) => (wire as Wire<DeadLetterView>[]).map(letterOfWire))
  }

  async message(id: string): Promise<MessageView | undefined> {
    const all = await this.messages
    return all.find((message) => message.id === id)
  }

  async explain(id: string): Promise<string> {
    return ((await this.#wire.get(`${messagePath(id)}/explain`)) as { explanation: string }).explanation
  }

  /** Whether it was there to be cancelled. */
  async cancel(id: string): Promise<boolean> {
    return ((await this.#wire.post(`${messagePath(id)}/cancel`)) as { cancelled: boolean }).cancelled
  }

  /** Delivers a waiting message now. */
  async release(id: string): Promise<void> {
    await this.#wire.post(`${messagePath(id)}/release`)
  }

  /** Publishes a dead letter again. */
  async retryDeadLetter(id: string): Promise<MessageView> {
    const wire = await this.#wire.post(`/queue/dead-letters/${encodeURIComponent(id)}/retry`)
    return messageOfWire(wire as Wire<MessageView>)
  }

  async urlGroup(name: string, endpoints: readonly (GroupEndpoint | string)[]): Promise<UrlGroupView> {
    return (await this.#wire.post(`/queue/url-groups/${encodeURIComponent(name)}`, { endpoints })) as UrlGroupView
  }

  async upsertQueue(name: string, parallelism: number, paused?: boolean): Promise<void> {
    await this.#wire.post(queuePath(name), { parallelism, ...(paused !== undefined && { paused }) })
  }

  async pauseQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/pause`)
  }

  async resumeQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/resume`)
  }

  async sign(request: SignedRequest, overrides: { readonly wrong?: SignatureFlaw } = {}): Promise<string> {
    return ((await this.#wire.post('/queue/sign', { ...request, ...overrides })) as { signature: string }).signature
  }
}

class RemoteKeys {
  readonly #wire: ControlWire
  readonly #refresh: () => Promise<void>

  constructor(wire: ControlWire, refresh: () => Promise<void>) {
    this.#wire = wire
    this.#refresh = refresh
  }

  async rotate(): Promise<SigningKeyPair> {
    const pair = (await this.#wire.post('/queue/keys/rotate')) as SigningKeyPair
    await this.#refresh()
    return pair
  }
}

class RemoteSchedules {
  readonly #wire: ControlWire

  constructor(wire: ControlWire) {
    this.#wire = wire
  }

  async list(): Promise<readonly ScheduleView[]> {
    return (await this.#wire.get('/queue/schedules')) as readonly ScheduleView[]
  }

  async fire(id: string): Promise<readonly MessageView[]> {
    const wire = await this.#wire.post(`/queue/schedules/${encodeURIComponent(id)}/fire`)
    return (wire as Wire<MessageView>[]).map(messageOfWire)
  }

  async upcoming(id: string, from: number, to: number): Promise<readonly number[]> {
    const path = `/queue/schedules/${encodeURIComponent(id)}/upcoming`
    return (await this.#wire.post(path, { from, to })) as readonly number[]
  }
}

class RemoteDestinations {
  readonly #wire: ControlWire

  constructor(wire: ControlWire) {
    this.#wire = wire
  }

  /** A function cannot travel: the server delivers over HTTP to where the app listens. */
  on(pattern: string | URL, _handler: unknown): never {
    throw new TypeError(
      `A remote sandbox cannot call the function for ${pattern}: publish to the address where your app listens, or use answer(), script() or record().`,
    )
  }

  async script(pattern: string | URL, steps: readonly Step[]): Promise<void> {
    await this.#wire.post('/destinations/script', { to: String(pattern), steps })
  }

  async answer(pattern: string | URL, answer: Exclude<PlainAnswer, Response>): Promise<void> {
    await this.#wire.post('/destinations/answer', { to: String(pattern), answer })
  }

  async record(pattern: string | URL, answer?: Exclude<PlainAnswer, Response>): Promise<RemoteRecorder> {
    const to = String(pattern)
    await this.#wire.post('/destinations/record', { to, ...(answer !== undefined && { answer }) })
    return new RemoteRecorder(this.#wire, to)
  }

  async off(pattern?: string | URL): Promise<void> {
    await this.#wire.send('DELETE', pattern === undefined ? '/destinations' : `/destinations?${toQuery(pattern)}`)
  }

  get unhandled(): Promise<readonly string[]> {
    return this.#wire.get('/destinations').then((facts) => (facts as { unhandled: readonly string[] }).unhandled)
  }

  get unplayed(): Promise<readonly { readonly pattern: string; readonly steps: readonly Step[] }[]> {
    return this.#wire
      .get('/destinations')
      .then((facts) => (facts as { unplayed: readonly { pattern: string; steps: readonly Step[] }[] }).unplayed)
  }
}

/** A request as a recorder at the server wrote it down. */
export interface RecordedRequest {
  readonly messageId: string
  readonly kind: string
  readonly url: string
  readonly method: string
  readonly at: number
  readonly retried: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: MessageView['body']
}

export class RemoteRecorder {
  readonly #wire: ControlWire
  readonly #to: string

  /** @internal */
  constructor(wire: ControlWire, to: string) {
    this.#wire = wire
    this.#to = to
  }

  get requests(): Promise<readonly RecordedRequest[]> {
    return this.#wire.get(`/destinations/recorded?${toQuery(this.#to)}`).then((wire) =>
      (wire as Wire<RecordedRequest>[]).map((request) => ({
        ...(request as unknown as RecordedRequest),
        body: bytesOfWire(request.body),
      })),
    )
  }

  get count(): Promise<number> {
    return this.requests.then((requests) => requests.length)
  }

  async last(): Promise<RecordedRequest> {
    const last = (await this.requests).at(-1)
    if (last !== undefined) return last
    throw new Error(`Nothing has arrived at ${this.#to} yet. Await clock.drain() or clock.advance() first.`)
  }
}

function toQuery(pattern: string | URL): string {
  return new URLSearchParams({ to: String(pattern) }).toString()
}

function messagePath(id: string): string {
  return `/queue/messages/${encodeURIComponent(id)}`
}

function queuePath(name: string): string {
  return `/queue/queues/${encodeURIComponent(name)}`
}

function viewed(wire: unknown): MessageView | readonly MessageView[] {
  return Array.isArray(wire) ? wire.map(messageOfWire) : messageOfWire(wire as Wire<MessageView>)
}

function messageOfWire(wire: Wire<MessageView>): MessageView {
  return { ...(wire as unknown as MessageView), body: bytesOfWire(wire.body) }
}

function letterOfWire(wire: Wire<DeadLetterView>): DeadLetterView {
  const { message, reply } = wire as unknown as {
    message: Wire<MessageView>
    reply: { body: Wire<MessageView>['body'] }
  }
  return {
    ...(wire as unknown as DeadLetterView),
    message: messageOfWire(message),
    reply: { ...(reply as unknown as DeadLetterView['reply']), body: bytesOfWire(reply.body) },
  }
}
