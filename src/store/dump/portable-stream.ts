import { utf8 } from '../../kernel/bytes.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { Consumer, ConsumerGroup } from '../values/consumer-group.js'
import { compareIds, formatId, parseId, type StreamId } from '../values/stream-id.js'
import { Stream } from '../values/stream-value.js'

export interface PortableStream {
  /** The value is a stream. */
  readonly type: 'stream'
  /** Entries in order: the ID, then alternating field names and values. */
  readonly entries: readonly (readonly [id: string, ...fields: PortableString[]])[]
  /** Highest ID ever assigned. */
  readonly topId: string
  /** Highest ID of a deleted entry, `0-0` if none was deleted. */
  readonly maxDeletedId: string
  /** Number of entries ever added. */
  readonly added: number
  /** Consumer groups of the stream. */
  readonly groups: readonly PortableGroup[]
}

export interface PortableGroup {
  /** Name of the consumer group. */
  readonly name: PortableString
  /** ID of the last entry that was delivered to the group. */
  readonly lastDelivered: string
  /** Number of entries read since the stream began, `null` if unknown. */
  readonly entriesRead: number | null
  /** Names of the consumers, each with the time of its last request in milliseconds since the Unix epoch. */
  readonly consumers: readonly (readonly [name: PortableString, seenAt: number])[]
  /** Entries that were delivered to a consumer and not acknowledged. Times are in milliseconds since the Unix epoch. */
  readonly pending: readonly (readonly [
    id: string,
    consumer: PortableString,
    deliveredAt: number,
    deliveries: number,
  ])[]
}

export function portableStream(stream: Stream): PortableStream {
  return {
    type: 'stream',
    entries: [...stream.entries].map(({ id, value }) => [formatId(id), ...value.map(portableString)]),
    topId: formatId(stream.topId),
    maxDeletedId: formatId(stream.maxDeletedId),
    added: stream.added,
    groups: [...stream.groups].map(([name, group]) => ({
      name: portableString(name),
      lastDelivered: formatId(group.lastDelivered),
      entriesRead: group.entriesRead ?? null,
      consumers: [...group.consumers.values()].map(({ name, seenAt }) => [portableString(name), seenAt]),
      pending: [...group.pending].map(({ id, value: { consumer, deliveredAt, deliveries } }) => [
        formatId(id),
        portableString(consumer.name),
        deliveredAt,
        deliveries,
      ]),
    })),
  }
}

export function streamOf(portable: PortableStream): Stream {
  const stream = new Stream()
  let latest: StreamId | undefined
  for (const [text, ...fields] of portable.entries) {
    const id = idOf(text)
    if (latest !== undefined && compareIds(id, latest) <= 0) throw new TypeError(`entry ${text} is out of order.`)
    latest = id
    stream.append(id, fields.map(bytesOf))
  }
  const topId = idOf(portable.topId)
  if (latest !== undefined && compareIds(topId, latest) < 0)
    throw new TypeError('topId is lower than the ID of the last entry.')
  stream.topId = topId
  stream.maxDeletedId = idOf(portable.maxDeletedId)
  stream.added = portable.added
  for (const group of portable.groups) stream.groups.set(bytesOf(group.name), groupOf(group))
  return stream
}

function groupOf(portable: PortableGroup): ConsumerGroup {
  const group = new ConsumerGroup(idOf(portable.lastDelivered), portable.entriesRead ?? undefined)
  for (const [name, seenAt] of portable.consumers) {
    group.consumers.set(bytesOf(name), new Consumer(bytesOf(name), seenAt))
  }
  for (const [text, name, deliveredAt, deliveries] of portable.pending) {
    const id = idOf(text)
    const consumer = group.consumers.get(bytesOf(name))
    if (consumer === undefined) throw new TypeError(`entry ${text} is pending for a consumer that is not listed.`)
    if (group.pending.get(id) !== undefined) throw new TypeError(`entry ${text} is pending twice.`)
    group.hold(id, { consumer, deliveredAt, deliveries })
  }
  return group
}

function idOf(id: string): StreamId {
  const parsed = parseId(utf8(id))
  if (parsed === undefined) throw new TypeError(`${JSON.stringify(id)} is not the ID of a stream entry.`)
  return parsed
}
