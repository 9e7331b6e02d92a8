import { terminated } from '../../faults/broken-bodies.js'
import type { Bytes } from '../../kernel/bytes.js'
import { letOutsideContinue } from '../../kernel/clock.js'
import type { Timer } from '../../kernel/time.js'
import { storeTokenQuery, tokenOf } from '../../protocol/call.js'
import { dataFrame, type EventStream, eventStream } from '../../protocol/event-stream.js'
import type { Endpoint, RawResponse, ServiceRequest } from '../../protocol/service.js'
import { connectionBound } from '../access/categories.js'
import type { User } from '../access/user.js'
import { noCommandPermission, replyError, wrongArity } from '../command/errors.js'
import { ReplyError } from '../command/reply.js'
import type { PubSubMessage, Subscriber } from '../keyspace/pubsub.js'
import type { StoreEngine } from '../store-engine.js'
import { readableFacts } from './command-faults.js'
import { type EventOutlet, faultyEvent } from './event-faults.js'
import { decodePercent } from './request.js'
import { corsHeaders, encodingOf, errorResponse, syncHeader } from './rest-responses.js'
import type { RestStore } from './store-front.js'

// The three event streams of the store: /monitor, /subscribe and /psubscribe. [store.md 5]

/** GET is included because EventSource in browsers supports only GET. */
const methods = ['GET', 'POST']

/** Reader of an event stream. The source of the events sends the events to this interface. */
export interface Feeding extends Subscriber, EventOutlet {
  readonly hasEnded: boolean
  /** Called after the reader has ended. */
  onEnd: (() => void) | undefined
}

/** Adds a reader to the source of events. The confirmations of the reader's subscriptions are sent first. */
export type Join = (front: RestStore, reader: Feeding, feed: Feed, names: readonly Bytes[]) => void | Promise<void>

/** Endpoint of an event stream, whose response begins immediately. */
interface StreamEndpoint extends Endpoint<RestStore, User> {
  run(call: ServiceRequest<User>, front: RestStore): RawResponse | Promise<RawResponse>
}

/** Returns the endpoints of event streams for any event source. */
export function streamEndpoints(join: Join): readonly StreamEndpoint[] {
  return [
    {
      method: methods,
      path: '/monitor',
      auth: 'bearer',
      summary: 'Streams every command that any client runs.',
      opensStream: true,
      facts: () => ({ commands: ['MONITOR'], keys: [] }),
      run: (call, front) => answered(call, () => opened(call, front, join, 'MONITOR', [])),
    },
    {
      method: methods,
      path: '/subscribe/**',
      auth: 'bearer',
      summary: 'Streams the messages of one or more channels.',
      opensStream: true,
      facts: (call) => readableFacts(() => ({ commands: ['SUBSCRIBE'], keys: channelsOf(call) })),
      run: (call, front) => answered(call, () => opened(call, front, join, 'SUBSCRIBE', namesOf(call, 'SUBSCRIBE'))),
    },
    {
      method: methods,
      path: '/psubscribe/**',
      auth: 'bearer',
      summary: 'Streams the messages of channels that match one of the patterns.',
      opensStream: true,
      facts: (call) => readableFacts(() => ({ commands: ['PSUBSCRIBE'], keys: channelsOf(call) })),
      run: (call, front) => answered(call, () => opened(call, front, join, 'PSUBSCRIBE', namesOf(call, 'PSUBSCRIBE'))),
    },
  ]
}

export const subscriptionEndpoints: readonly Endpoint<RestStore, User>[] = streamEndpoints(
  ({ store: { pubsub } }, reader, feed, names) => {
    if (feed === 'MONITOR') pubsub.monitor(reader)
    else if (feed === 'SUBSCRIBE') pubsub.subscribe(reader, names)
    else pubsub.subscribeToPatterns(reader, names)
  },
)

export type Feed = 'MONITOR' | 'SUBSCRIBE' | 'PSUBSCRIBE'

/** Opens a stream. If an error occurs before the stream begins, returns an ordinary response. */
function answered(
  call: ServiceRequest,
  open: () => RawResponse | Promise<RawResponse>,
): RawResponse | Promise<RawResponse> {
  try {
    // Events have only one format, but a request for an invalid format is rejected nevertheless.
    encodingOf(call)
    return open()
  } catch (error) {
    if (error instanceof ReplyError) return errorResponse(error, 400, call)
    throw error
  }
}

function namesOf(call: ServiceRequest, feed: Feed): Bytes[] {
  if (call.rest === '') throw wrongArity(feed)
  return channelsOf(call)
}

/** Returns the channels or patterns of the path, one per segment. Query parameters are not channels. */
function channelsOf({ rest }: ServiceRequest): Bytes[] {
  return rest === '' ? [] : rest.split('/').map(decodePercent)
}

function opened(
  call: ServiceRequest<User>,
  front: RestStore,
  join: Join,
  feed: Feed,
  names: readonly Bytes[],
): RawResponse | Promise<RawResponse> {
  const { store } = front
  const { access } = store
  const refusal = (user: User | undefined): ReplyError | undefined => {
    if (user?.mayRun(connectionBound.get(feed)!) !== true) return noCommandPermission(feed)
    const channels = [...names]
    const named = feed === 'PSUBSCRIBE' ? ({ channels, kind: 'pattern' } as const) : { channels }
    const allowed = user.denial(connectionBound.get(feed)!, named) === undefined
    return allowed ? undefined : replyError('noChannelPermission')
  }
  const refused = refusal(call.user)
  if (refused !== undefined) throw refused
  // A token can be revoked or given to another user while the stream is open.
  const token = tokenOf(call, storeTokenQuery) ?? ''
  const reader = new StreamReader(call, front, () => refusal(access.userOf(token)) === undefined)
  const joined = reader.hasEnded ? undefined : join(front, reader, feed, names)
  return joined === undefined ? answerOf(call, store, reader) : joined.then(() => answerOf(call, store, reader))
}

function answerOf(call: ServiceRequest<User>, store: StoreEngine, reader: StreamReader): RawResponse {
  reader.keepAlive()
  const headers: (readonly [string, string])[] = [
    ['content-type', 'text/event-stream'],
    ['cache-control', 'no-cache'],
    ...corsHeaders(call),
    syncHeader(store),
  ]
  return { status: 200, headers, body: reader.body }
}

/** Interval of comments in milliseconds. Readers skip comments, and proxies then do not close the connection. */
const keepAliveEvery = 15_000

class StreamReader implements Feeding {
  readonly isWelcome: () => boolean
  hasEnded = false
  onEnd: (() => void) | undefined
  readonly #call: ServiceRequest
  readonly #front: RestStore
  readonly #stream: EventStream
  readonly #clock: RestStore['clock']
  #timer: Timer | undefined

  constructor(call: ServiceRequest, front: RestStore, isWelcome: () => boolean) {
    const { store, clock } = front
    this.isWelcome = isWelcome
    this.#call = call
    this.#front = front
    this.#clock = clock
    this.#stream = eventStream({
      signal: call.signal,
      bufferLimit: store.options.policy.maxStreamBuffer,
      onEnd: () => {
        this.hasEnded = true
        call.left()
        this.#timer?.cancel()
        store.pubsub.leave(this)
        this.onEnd?.()
      },
    })
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#stream.body
  }

  receive(message: PubSubMessage): void {
    if (this.#front.faults?.activeByPoint['stream.event'] !== undefined)
      faultyEvent(this, message, this.#call, this.#front)
    else this.pass(message)
  }

  pass(message: PubSubMessage, line: Bytes = message.line): void {
    if (this.hasEnded) return
    this.#stream.sendFrame(line === message.line ? frameOf(message) : dataFrame(line))
    // Lets the reader read the event before virtual time moves.
    letOutsideContinue(this.#clock)
  }

  breakOff(): void {
    this.#stream.fail(terminated())
    letOutsideContinue(this.#clock)
  }

  dismiss(): void {
    this.#stream.close()
  }

  keepAlive(): void {
    const clock = this.#clock
    if (this.hasEnded) return
    this.#timer = clock.schedule(
      clock.now() + keepAliveEvery,
      'keep-alive of an event stream',
      () => {
        // Comments are sent only while the client reads. Unread events also keep the connection open, and the comments
        // of a virtual month would fill the buffer.
        if (this.#stream.isRead) this.#stream.comment('keep-alive')
        this.keepAlive()
      },
      { background: true },
    )
  }
}

const frames = new WeakMap<PubSubMessage, Uint8Array>()

/** Encodes a message once for all readers. */
function frameOf(message: PubSubMessage): Uint8Array {
  let frame = frames.get(message)
  if (frame === undefined) {
    frame = dataFrame(message.line)
    frames.set(message, frame)
  }
  return frame
}
