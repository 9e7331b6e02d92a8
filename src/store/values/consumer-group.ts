import type { Bytes } from '../../kernel/bytes.js'
import { IdTable } from './id-table.js'
import type { StreamId } from './stream-id.js'

/** Entry that was delivered to a consumer and has not been acknowledged. */
export interface Pending {
  consumer: Consumer
  /** Time of the last delivery, in milliseconds since the Unix epoch. */
  deliveredAt: number
  deliveries: number
}

export class Consumer {
  readonly pending: IdTable<Pending> = new IdTable()

  constructor(
    readonly name: Bytes,
    /** Time of the last request by the consumer, milliseconds since the Unix epoch. */
    public seenAt: number,
  ) {}
}

/** Consumers that share the entries of a stream; each entry is delivered to one of them. */
export class ConsumerGroup {
  readonly pending: IdTable<Pending> = new IdTable()
  readonly consumers: Map<Bytes, Consumer> = new Map()

  constructor(
    public lastDelivered: StreamId,
    /** Number of entries read since the stream began; `undefined` if unknown. */
    public entriesRead: number | undefined,
  ) {}

  /** Assigns an entry to a consumer, even if it is pending for another consumer. */
  assign(id: StreamId, consumer: Consumer, now: number): void {
    const pending = this.pending.get(id)
    if (pending === undefined) {
      this.hold(id, { consumer, deliveredAt: now, deliveries: 1 })
      return
    }
    this.hand(id, pending, consumer)
    pending.deliveredAt = now
    pending.deliveries = 1
  }

  hold(id: StreamId, pending: Pending): void {
    this.pending.set(id, pending)
    pending.consumer.pending.set(id, pending)
  }

  /** Changes the consumer of a pending entry. */
  hand(id: StreamId, pending: Pending, consumer: Consumer): void {
    if (pending.consumer === consumer) return
    pending.consumer.pending.delete(id)
    pending.consumer = consumer
    consumer.pending.set(id, pending)
  }

  /** Removes a pending entry. Returns whether the entry was pending. */
  forget(id: StreamId): boolean {
    const pending = this.pending.get(id)
    if (pending === undefined) return false
    this.pending.delete(id)
    pending.consumer.pending.delete(id)
    return true
  }

  /** Removes a consumer and returns the number of its pending entries; `undefined` if there is no such consumer. */
  removeConsumer(name: Bytes): number | undefined {
    const consumer = this.consumers.get(name)
    if (consumer === undefined) return undefined
    for (const { id } of consumer.pending) this.pending.delete(id)
    this.consumers.delete(name)
    return consumer.pending.size
  }

  copy(): ConsumerGroup {
    const copy = new ConsumerGroup(this.lastDelivered, this.entriesRead)
    for (const { name, seenAt } of this.consumers.values()) copy.consumers.set(name, new Consumer(name, seenAt))
    for (const { id, value } of this.pending) {
      copy.hold(id, { ...value, consumer: copy.consumers.get(value.consumer.name)! })
    }
    return copy
  }
}

/** Returns entries by name in order of bytes, as redis lists groups and consumers. */
export function byName<T>(table: ReadonlyMap<Bytes, T>): [Bytes, T][] {
  return [...table].sort(([a], [b]) => (a < b ? -1 : 1))
}
