import type { Bytes } from '../../../../src/kernel/bytes.js'
import type { Endpoint } from '../../../../src/protocol/service.js'
import type { User } from '../../../../src/store/access/user.js'
import { ReplyError, Status } from '../../../../src/store/command/reply.js'
import { PubSubMessage } from '../../../../src/store/keyspace/pubsub.js'
import { plain } from '../../../../src/store/rest/rest-responses.js'
import type { RestStore } from '../../../../src/store/rest/store-front.js'
import { type Feed, type Feeding, streamEndpoints } from '../../../../src/store/rest/subscriptions.js'
import type { RespValue } from '../redis-client/reply-reader.js'
import type { RealRedis } from './real-redis.js'
import { away } from './redis-access.js'
import { listen } from './redis-pubsub.js'
import { refusalOf } from './redis-rejections.js'

// The event streams of a store on a real Redis. Each stream has its own connections. The real Redis therefore selects
// the messages of the stream, and counts the stream as a subscriber.

export function streamsOf(engine: RealRedis): readonly Endpoint<RestStore, User>[] {
  const endpoints = streamEndpoints(async (front, reader, feed, names) => {
    // Register the stream in the local store, so that it ends when the sandbox is disposed or its token is revoked.
    front.store.pubsub.subscribe(reader, [])
    await listened(engine, reader, feed, names)
  })
  return endpoints.map((row) => ({
    ...row,
    run: async (call, front) => {
      try {
        return await row.run(call, front)
      } catch (error) {
        return refusalOf(error, { form: 'json', strings: plain })
      }
    },
  }))
}

/**
 * Subscribes a stream. Resolves when the server has confirmed all subscriptions.
 * @throws ReplyError if the server rejects a subscription, RealRedisUnreachable
 */
async function listened(engine: RealRedis, reader: Feeding, feed: Feed, names: readonly Bytes[]): Promise<void> {
  let missing = feed === 'MONITOR' ? 1 : names.length
  await new Promise<void>((resolve, reject) => {
    const heard = (told: RespValue): void => {
      if (told instanceof ReplyError) {
        reject(told)
        return
      }
      const message = messageOf(told, engine.markers)
      if (message !== undefined) reader.receive(message)
      if (missing > 0 && --missing === 0) resolve()
    }
    const broken = (): void => {
      reject(away(engine.nodes[0]!.place, 'it closed the connection'))
      reader.breakOff()
    }
    listen(engine.nodes, feed, names, heard, broken).then((leave) => {
      if (reader.hasEnded) leave()
      else reader.onEnd = leave
    }, reject)
  }).catch((error) => {
    reader.dismiss()
    throw error
  })
}

/** Returns the message for a stream. Messages about a marker are hidden, so it returns `undefined` for them. */
function messageOf(told: RespValue, markers: readonly Bytes[]): PubSubMessage | undefined {
  if (told instanceof Status) {
    if (markers.some((marker) => told.text.includes(marker))) return undefined
    return new PubSubMessage(told.text === 'OK' ? '"OK"' : told.text)
  }
  if (!Array.isArray(told)) return undefined
  const [kind, ...rest] = told as readonly Bytes[]
  if (rest.some((part) => markers.some((marker) => String(part).includes(marker)))) return undefined
  return new PubSubMessage(kind!, ...rest)
}
