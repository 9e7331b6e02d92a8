import { bindMethods } from '../kernel/bind-methods.js'
import { fromArray, toBase64 } from '../kernel/bytes.js'
import { instant } from '../kernel/instant.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { FireTimeSpan, PublishOptions, PublishResult, Queue, UpsertQueueOptions } from '../queue/direct-queue.js'
import type { QueueDump } from '../queue/dump/queue-dump.js'
import type { ExplainTarget } from '../queue/explain/explain.js'
import type { Forecast } from '../queue/explain/forecast.js'
import type { UrlGroupEndpoint } from '../queue/publish/url-groups.js'
import type { SignatureFlaw, SignedRequest } from '../queue/signing/signature-lab.js'
import type { SigningKeyPair } from '../queue/signing/signing.js'
import type { ControlClient } from './control-client.js'
import type { SandboxSnapshot } from './remote-snapshot.js'
import type { Remote } from './remote-type.js'
import {
  type DeadLetterView,
  type MessageView,
  type OnWire,
  type ScheduleView,
  type UrlGroupView,
  viewOf,
} from './remote-views.js'

/** Members that have the same signature in a local queue; messages are views. */
type Same =
  | 'explain'
  | 'forecast'
  | 'cancel'
  | 'deliverNow'
  | 'upsertQueue'
  | 'pauseQueue'
  | 'resumeQueue'
  | 'deleteQueue'
  | 'diagnostics'
  | 'dump'
  | 'load'
  | 'reset'

/** The message queue of a tenant: `sandbox.queue`. */
export class RemoteQueue implements Remote<Queue, Same> {
  static {
    bindMethods(RemoteQueue)
  }

  readonly signingKeys: RemoteKeys
  readonly schedules: RemoteSchedules
  readonly urlGroups: RemoteUrlGroups
  readonly #wire: ControlClient
  readonly #refresh: () => Promise<void>
  readonly #snapshot: () => Promise<Pick<SandboxSnapshot, 'queue'>>

  /** @internal */
  constructor(
    wire: ControlClient,
    refresh: () => Promise<void>,
    snapshot: () => Promise<Pick<SandboxSnapshot, 'queue'>>,
  ) {
    this.#wire = wire
    this.#refresh = refresh
    this.#snapshot = snapshot
    this.signingKeys = new RemoteKeys(wire, refresh)
    this.schedules = new RemoteSchedules(wire)
    this.urlGroups = new RemoteUrlGroups(wire)
  }

  /** Publishes a message and returns its view. */
  async publish<To extends string>({
    body,
    ...direct
  }: PublishOptions & { readonly to: To }): Promise<PublishResult<To, MessageView>> {
    const given = body instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(body)) } } : { body }
    return viewed(await this.#wire.post('/queue/publish', { ...direct, ...given })) as PublishResult<To, MessageView>
  }

  /** Every message that has not ended. */
  get messages(): Promise<readonly MessageView[]> {
    return this.#wire.list('/queue/messages').then((wire) => (wire as OnWire<MessageView>[]).map(messageOfWire))
  }

  /** The dead letters, as views. */
  get deadLetters(): Promise<readonly DeadLetterView[]> {
    return this.#wire.list('/queue/dead-letters').then((wire) => (wire as OnWire<DeadLetterView>[]).map(letterOfWire))
  }

  /** Returns a message by ID, or `undefined` if there is none. */
  async getMessage(id: string): Promise<MessageView | undefined> {
    const all = await this.messages
    return all.find((message) => message.id === id)
  }

  /** Explains the state of a message, FIFO queue, flow-control key, schedule or deduplication ID. */
  async explain(what: string | ExplainTarget): Promise<string> {
    if (typeof what === 'string') {
      return ((await this.#wire.get(`${messagePath(what)}/explain`)) as { explanation: string }).explanation
    }
    checkOptionNames('queue.explain()', what, ['queue', 'flowControlKey', 'scheduleId', 'deduplicationId'])
    return ((await this.#wire.post('/queue/explain', what)) as { explanation: string }).explanation
  }

  /** Returns when a message will be delivered next and what blocks it, or `undefined` if it has ended. */
  async forecast(id: string): Promise<Forecast | undefined> {
    return (
      ((await this.#wire.get(`${messagePath(id)}/forecast`)) as { forecast: Forecast | null }).forecast ?? undefined
    )
  }

  /** Cancels a message. Returns whether there was anything to cancel. */
  async cancel(id: string): Promise<boolean> {
    return ((await this.#wire.post(`${messagePath(id)}/cancel`)) as { canceled: boolean }).canceled
  }

  /** Delivers a waiting message now. */
  async deliverNow(id: string): Promise<void> {
    await this.#wire.post(`${messagePath(id)}/deliver-now`)
  }

  /** Publishes a dead letter again. */
  async retryDeadLetter(id: string): Promise<MessageView> {
    const wire = await this.#wire.post(`/queue/dead-letters/${encodeURIComponent(id)}/retry`)
    return messageOfWire(wire as OnWire<MessageView>)
  }

  /** Creates or updates a FIFO queue. */
  async upsertQueue(name: string, options: UpsertQueueOptions): Promise<void> {
    checkOptionNames('queue.upsertQueue()', options, { parallelism: true, paused: true })
    await this.#wire.post(queuePath(name), { ...options })
  }

  /** Pauses a FIFO queue. */
  async pauseQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/pause`)
  }

  /** Resumes a FIFO queue. */
  async resumeQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/resume`)
  }

  /** Deletes a FIFO queue. */
  async deleteQueue(name: string): Promise<void> {
    await this.#wire.send('DELETE', queuePath(name))
  }

  /** Signs a request as a delivery, optionally with one defect. */
  async sign(request: SignedRequest, overrides: { readonly flaw?: SignatureFlaw } = {}): Promise<string> {
    checkOptionNames('queue.sign(): the request', request, { url: true, body: true })
    checkOptionNames('queue.sign()', overrides, { flaw: true })
    return ((await this.#wire.post('/queue/sign', { ...request, ...overrides })) as { signature: string }).signature
  }

  /** Messages about requests that the service may treat differently. */
  get diagnostics(): Promise<readonly string[]> {
    return this.#wire.get('/queue/diagnostics') as Promise<readonly string[]>
  }

  /** Returns everything as plain JSON. */
  async dump(): Promise<QueueDump> {
    return (await this.#wire.get('/queue/dump')) as QueueDump
  }

  /** Replaces everything with what `dump()` returned, including signing keys. */
  async load(dump: QueueDump): Promise<void> {
    await this.#wire.send('PUT', '/queue/dump', dump)
    await this.#refresh()
  }

  /** Empties the queue. Signing keys and destinations stay. */
  async reset(): Promise<void> {
    await this.#wire.post('/queue/reset')
  }

  /**
   * Returns a copy of the queue and its traffic, for matchers.
   * @example expect(await sandbox.queue.snapshot()).toHaveDelivered({ to: 'https://shop.test/orders' })
   */
  async snapshot(): Promise<SandboxSnapshot['queue']> {
    return (await this.#snapshot()).queue
  }
}

class RemoteKeys implements Remote<Queue['signingKeys'], 'current' | 'next' | 'former' | 'pair' | 'rotate'> {
  static {
    bindMethods(RemoteKeys)
  }

  readonly #wire: ControlClient
  readonly #refresh: () => Promise<void>

  /** @internal */
  constructor(wire: ControlClient, refresh: () => Promise<void>) {
    this.#wire = wire
    this.#refresh = refresh
  }

  get current(): Promise<string> {
    return this.#all().then(({ current }) => current)
  }

  get next(): Promise<string> {
    return this.#all().then(({ next }) => next)
  }

  /** Former current keys, the latest first. */
  get former(): Promise<readonly string[]> {
    return this.#all().then(({ former }) => former)
  }

  async pair(): Promise<SigningKeyPair> {
    const { current, next } = await this.#all()
    return { current, next }
  }

  async #all(): Promise<SigningKeyPair & { readonly former: readonly string[] }> {
    return (await this.#wire.get('/queue/signing-keys')) as SigningKeyPair & { readonly former: readonly string[] }
  }

  async rotate(): Promise<SigningKeyPair> {
    const pair = (await this.#wire.post('/queue/signing-keys/rotate')) as SigningKeyPair
    await this.#refresh()
    return pair
  }
}

class RemoteSchedules {
  static {
    bindMethods(RemoteSchedules)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  async list(): Promise<readonly ScheduleView[]> {
    return (await this.#wire.list('/queue/schedules')) as readonly ScheduleView[]
  }

  async fire(id: string): Promise<readonly MessageView[]> {
    const wire = await this.#wire.post(`/queue/schedules/${encodeURIComponent(id)}/fire`)
    return (wire as OnWire<MessageView>[]).map(messageOfWire)
  }

  async upcoming(id: string, span: FireTimeSpan): Promise<readonly number[]> {
    checkOptionNames('queue.schedules.upcoming()', span, { from: true, to: true })
    const { from, to } = span
    const path = `/queue/schedules/${encodeURIComponent(id)}/upcoming`
    return (await this.#wire.post(path, { from: instant(from), to: instant(to) })) as readonly number[]
  }
}

class RemoteUrlGroups {
  static {
    bindMethods(RemoteUrlGroups)
  }

  readonly #wire: ControlClient

  /** @internal */
  constructor(wire: ControlClient) {
    this.#wire = wire
  }

  /** Adds endpoints to a URL group, and creates the group if necessary. */
  async addEndpoints(name: string, endpoints: readonly (UrlGroupEndpoint | string)[]): Promise<UrlGroupView> {
    for (const endpoint of endpoints)
      if (typeof endpoint !== 'string')
        checkOptionNames('queue.urlGroups.addEndpoints(): the endpoint', endpoint, { url: true, name: true })
    return (await this.#wire.post(`/queue/url-groups/${encodeURIComponent(name)}/endpoints`, {
      endpoints,
    })) as UrlGroupView
  }

  async list(): Promise<readonly UrlGroupView[]> {
    return (await this.#wire.list('/queue/url-groups')) as readonly UrlGroupView[]
  }

  async delete(name: string): Promise<void> {
    await this.#wire.send('DELETE', `/queue/url-groups/${encodeURIComponent(name)}`)
  }
}

function messagePath(id: string): string {
  return `/queue/messages/${encodeURIComponent(id)}`
}

function queuePath(name: string): string {
  return `/queue/queues/${encodeURIComponent(name)}`
}

function viewed(wire: unknown): MessageView | readonly MessageView[] {
  return Array.isArray(wire) ? wire.map(messageOfWire) : messageOfWire(wire as OnWire<MessageView>)
}

function messageOfWire(wire: OnWire<MessageView>): MessageView {
  return viewOf(wire)
}

function letterOfWire(wire: OnWire<DeadLetterView>): DeadLetterView {
  return {
    ...wire,
    message: viewOf<MessageView>(wire.message),
    response: viewOf<DeadLetterView['response']>(wire.response),
  }
}
