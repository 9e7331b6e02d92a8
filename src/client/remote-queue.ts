import { bindMethods } from '../kernel/bind-methods.js'
import { fromArray, toBase64 } from '../kernel/bytes.js'
import { instant } from '../kernel/instant.js'
import { checkOptionNames } from '../kernel/nearest-name.js'
import type { MessageFilter } from '../queue/direct-filters.js'
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
  type BulkActionView,
  type DeadLetterView,
  type MessageView,
  type OnWire,
  type ScheduleView,
  type UrlGroupView,
  viewOf,
} from './remote-views.js'
import { sentFilter } from './sent-filter.js'

/** Members of `Queue` that a remote queue has with the same arguments. */
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

  /** Signing keys of deliveries: `current`, `next`, `former`, `pair()`, `rotate()`. */
  readonly signingKeys: RemoteKeys
  /** Schedules: `list()`, `fire(id)`, `upcoming(id, { from, to })`. */
  readonly schedules: RemoteSchedules
  /** URL groups: `addEndpoints(name, endpoints)`, `list()`, `delete(name)`. */
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

  /**
   * Publishes a message and returns its view.
   * @throws Error when the API would reject the message
   * @example const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders', body: { id: 42 } })
   */
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

  /**
   * Returns a message by ID, or `undefined` if there is none.
   * @example
   * const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * await sandbox.queue.getMessage(id)
   */
  async getMessage(id: string): Promise<MessageView | undefined> {
    const all = await this.messages
    return all.find((message) => message.id === id)
  }

  /**
   * Explains the state of a message, FIFO queue, flow-control key, schedule or deduplication ID.
   * @example await sandbox.queue.explain({ flowControlKey: 'user-1' })
   */
  async explain(what: string | ExplainTarget): Promise<string> {
    if (typeof what === 'string') {
      return ((await this.#wire.get(`${messagePath(what)}/explain`)) as { explanation: string }).explanation
    }
    checkOptionNames('queue.explain()', what, ['queue', 'flowControlKey', 'scheduleId', 'deduplicationId'])
    return ((await this.#wire.post('/queue/explain', what)) as { explanation: string }).explanation
  }

  /**
   * Returns when a message will be delivered next and what prevents it now, or `undefined` if the message has ended.
   * @example await sandbox.queue.forecast(message.id)
   */
  async forecast(id: string): Promise<Forecast | undefined> {
    return (
      ((await this.#wire.get(`${messagePath(id)}/forecast`)) as { forecast: Forecast | null }).forecast ?? undefined
    )
  }

  /**
   * Cancels a message. Returns whether the message was pending, so that it could be canceled.
   * @example
   * const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m' })
   * expect(await sandbox.queue.cancel(id)).toBe(true)
   */
  async cancel(id: string): Promise<boolean> {
    return ((await this.#wire.post(`${messagePath(id)}/cancel`)) as { canceled: boolean }).canceled
  }

  /**
   * Cancels all pending messages that match the filters, as one bulk action. Without filters, cancels all.
   * @example
   * await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1m', label: 'campaign' })
   * const { total } = await sandbox.queue.cancelMessages({ label: 'campaign' })
   */
  async cancelMessages(filter: MessageFilter = {}): Promise<BulkActionView> {
    const body = sentFilter('queue.cancelMessages()', filter)
    return (await this.#wire.post('/queue/messages/cancel', body)) as BulkActionView
  }

  /** Bulk actions that cancel messages, of the last seven days, oldest first. */
  get bulkActions(): Promise<readonly BulkActionView[]> {
    return this.#wire.list('/queue/bulk-actions') as Promise<readonly BulkActionView[]>
  }

  /**
   * Delivers a waiting message now. Returns whether the message was waiting, so that it could be delivered.
   * @example
   * const { id } = await sandbox.queue.publish({ to: 'https://shop.test/orders', delay: '1d' })
   * expect(await sandbox.queue.deliverNow(id)).toBe(true)
   */
  async deliverNow(id: string): Promise<boolean> {
    return ((await this.#wire.post(`${messagePath(id)}/deliver-now`)) as { wasWaiting: boolean }).wasWaiting
  }

  /**
   * Publishes a dead letter again.
   * @example await sandbox.queue.retryDeadLetter(deadLetter.id)
   */
  async retryDeadLetter(id: string): Promise<MessageView> {
    const wire = await this.#wire.post(`/queue/dead-letters/${encodeURIComponent(id)}/retry`)
    return messageOfWire(wire as OnWire<MessageView>)
  }

  /**
   * Creates or updates a FIFO queue.
   * @example await sandbox.queue.upsertQueue('orders', { parallelism: 2 })
   */
  async upsertQueue(name: string, options: UpsertQueueOptions): Promise<void> {
    checkOptionNames('queue.upsertQueue()', options, { parallelism: true, paused: true })
    await this.#wire.post(queuePath(name), { ...options })
  }

  /**
   * Pauses a FIFO queue.
   * @example
   * await sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * await sandbox.queue.pauseQueue('orders')
   */
  async pauseQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/pause`)
  }

  /**
   * Resumes a FIFO queue.
   * @example
   * await sandbox.queue.upsertQueue('orders', { parallelism: 1, paused: true })
   * await sandbox.queue.resumeQueue('orders')
   */
  async resumeQueue(name: string): Promise<void> {
    await this.#wire.post(`${queuePath(name)}/resume`)
  }

  /**
   * Deletes a FIFO queue.
   * @example
   * await sandbox.queue.upsertQueue('orders', { parallelism: 1 })
   * await sandbox.queue.deleteQueue('orders')
   */
  async deleteQueue(name: string): Promise<void> {
    await this.#wire.send('DELETE', queuePath(name))
  }

  /**
   * Signs a request as a delivery, optionally with one defect in the signature.
   * @example await sandbox.queue.sign({ url: 'https://shop.test/orders', body: '{"id":42}' }, { flaw: 'expired' })
   */
  async sign(request: SignedRequest, overrides: { readonly flaw?: SignatureFlaw } = {}): Promise<string> {
    checkOptionNames('queue.sign(): the request', request, { url: true, body: true })
    checkOptionNames('queue.sign()', overrides, { flaw: true })
    return ((await this.#wire.post('/queue/sign', { ...request, ...overrides })) as { signature: string }).signature
  }

  /** Messages about requests that the service may treat differently. */
  get diagnostics(): Promise<readonly string[]> {
    return this.#wire.get('/queue/diagnostics') as Promise<readonly string[]>
  }

  /**
   * Returns the whole state of the queue as plain JSON.
   * @example writeFileSync('queue.json', JSON.stringify(await sandbox.queue.dump()))
   */
  async dump(): Promise<QueueDump> {
    return (await this.#wire.get('/queue/dump')) as QueueDump
  }

  /**
   * Replaces the whole state of the queue with a dump, including signing keys.
   * @example
   * const dump = await sandbox.queue.dump()
   * await sandbox.queue.load(dump)
   */
  async load(dump: QueueDump): Promise<void> {
    await this.#wire.send('PUT', '/queue/dump', dump)
    await this.#refresh()
  }

  /**
   * Removes everything from the queue except signing keys and destinations.
   * @example
   * await sandbox.queue.reset()
   * expect(await sandbox.queue.messages).toEqual([])
   */
  async reset(): Promise<void> {
    await this.#wire.post('/queue/reset')
  }

  /**
   * Returns a copy of the queue and its traffic, for matchers.
   * @example
   * await sandbox.queue.publish({ to: 'https://shop.test/orders' })
   * await sandbox.clock.drain()
   * expect(await sandbox.queue.snapshot()).toHaveDelivered({ to: 'https://shop.test/orders' })
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

  /** Current signing key, `sig_…`. */
  get current(): Promise<string> {
    return this.#all().then(({ current }) => current)
  }

  /** Signing key that becomes the current one with the next rotation, `sig_…`. */
  get next(): Promise<string> {
    return this.#all().then(({ next }) => next)
  }

  /** Earlier current signing keys, the latest first. */
  get former(): Promise<readonly string[]> {
    return this.#all().then(({ former }) => former)
  }

  /**
   * Returns the current and the next signing key.
   * @example const { current, next } = await sandbox.queue.signingKeys.pair()
   */
  async pair(): Promise<SigningKeyPair> {
    const { current, next } = await this.#all()
    return { current, next }
  }

  async #all(): Promise<SigningKeyPair & { readonly former: readonly string[] }> {
    return (await this.#wire.get('/queue/signing-keys')) as SigningKeyPair & { readonly former: readonly string[] }
  }

  /**
   * Makes the next signing key the current one, and creates a new next key.
   * @example const { current } = await sandbox.queue.signingKeys.rotate()
   */
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

  /**
   * Returns all schedules.
   * @example for (const { id } of await sandbox.queue.schedules.list()) console.log(id)
   */
  async list(): Promise<readonly ScheduleView[]> {
    return (await this.#wire.list('/queue/schedules')) as readonly ScheduleView[]
  }

  /**
   * Triggers a schedule now. Its planned fire times do not change.
   * @example await sandbox.queue.schedules.fire('nightly')
   */
  async fire(id: string): Promise<readonly MessageView[]> {
    const wire = await this.#wire.post(`/queue/schedules/${encodeURIComponent(id)}/fire`)
    return (wire as OnWire<MessageView>[]).map(messageOfWire)
  }

  /**
   * Returns the planned fire times of a schedule in a range, in milliseconds since the Unix epoch, without firing the
   * schedule.
   * @example
   * await sandbox.queue.schedules.upcoming('nightly', { from: '2030-03-29T12:00:00Z', to: '2030-04-01T12:00:00Z' })
   */
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

  /**
   * Adds endpoints to a URL group, and creates the group if necessary.
   * @example await sandbox.queue.urlGroups.addEndpoints('orders', ['https://shop.test/stock'])
   */
  async addEndpoints(name: string, endpoints: readonly (UrlGroupEndpoint | string)[]): Promise<UrlGroupView> {
    for (const endpoint of endpoints)
      if (typeof endpoint !== 'string')
        checkOptionNames('queue.urlGroups.addEndpoints(): the endpoint', endpoint, { url: true, name: true })
    return (await this.#wire.post(`/queue/url-groups/${encodeURIComponent(name)}/endpoints`, {
      endpoints,
    })) as UrlGroupView
  }

  /**
   * Returns all URL groups.
   * @example const groups = await sandbox.queue.urlGroups.list()
   */
  async list(): Promise<readonly UrlGroupView[]> {
    return (await this.#wire.list('/queue/url-groups')) as readonly UrlGroupView[]
  }

  /**
   * Deletes a URL group.
   * @example
   * await sandbox.queue.urlGroups.addEndpoints('orders', ['https://shop.test/stock'])
   * await sandbox.queue.urlGroups.delete('orders')
   */
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
