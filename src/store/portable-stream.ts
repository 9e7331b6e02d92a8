import { utf8 } from '../kernel/bytes.js'
import { bytesOf, type PortableString, portableString } from '../kernel/portable.js'
import { Consumer, ConsumerGroup } from './values/consumer-group.js'
import { Stream } from './values/stream.js'
import { formatId, parseId, type StreamId } from './values/stream-id.js'

export interface PortableStream {
  readonly type: 'stream'
  /** Id, then names and values in turns. */
  readonly entries: readonly (readonly [id: string, ...fields: PortableString[]])[]
  /** The highest id that was ever given, and the highest that was deleted. */
  readonly topId: string
  readonly maxDeletedId: string
  /** Entries ever added. */
  readonly added: number
  readonly groups: readonly PortableGroup[]
}

export interface PortableGroup {
  readonly name: PortableString
  readonly lastDelivered: string
  readonly entriesRead: number | null
  readonly consumers: readonly (readonly [name: PortableString, seenAt: number])[]
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
  for (const [id, ...fields] of portable.entries) stream.append(idOf(id), fields.map(bytesOf))
  stream.topId = idOf(portable.topId)
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
  for (const [id, name, deliveredAt, deliveries] of portable.pending) {
    const consumer = group.consumers.get(bytesOf(name))
    if (consumer === undefined) throw new TypeError(`Entry ${id} is pending for a consumer that is not listed.`)
    group.hold(idOf(id), { consumer, deliveredAt, deliveries })
  }
  return group
}

function idOf(id: string): StreamId {
  const parsed = parseId(utf8(id))
  if (parsed === undefined) throw new TypeError(`${JSON.stringify(id)} is not the id of a stream entry.`)
  return parsed
}
