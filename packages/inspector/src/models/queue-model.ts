import type { EntryOf } from '../../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { isOf } from '../entry-kinds.js'
import { isOver, type MessageAt, MessageStates } from './message-states.js'
import {
  type FifoQueueAt,
  type FlowKeyAt,
  fifoQueuesOf,
  flowKeysOf,
  type GroupAt,
  groupsOf,
  type ScheduleAt,
  schedulesOf,
} from './queue-settings.js'
import type { StoreInstant } from './store-model.js'

// Computes the state of the queue at any instant from the entries of the log.

/** A dead letter. */
export interface DeadLetterAt {
  readonly id: string
  readonly entry: EntryOf<'dead-letter'>
  readonly message: MessageAt | undefined
  /** `seq` of the request that removed the dead letter: it deleted the message or published it again. */
  readonly takenBy?: number
}

export interface QueueAt {
  /** Messages in the log, oldest first. */
  readonly messages: readonly MessageAt[]
  readonly deadLetters: readonly DeadLetterAt[]
  readonly lanes: readonly FifoQueueAt[]
  readonly flowKeys: readonly FlowKeyAt[]
  readonly schedules: readonly ScheduleAt[]
  readonly groups: readonly GroupAt[]
}

type Setting = EntryOf<'setting'>

export class QueueModel {
  readonly #stories = new Map<string, MessageStates>()
  readonly #settings: Setting[] = []
  readonly #letters: EntryOf<'dead-letter'>[] = []
  /** Requests that can remove dead letters, whether they succeeded or not. */
  readonly #taken: TraceEntry[] = []
  /** Message ID of each entry that is about a message. The key is the `seq` of the entry. */
  readonly #owner = new Map<number, string>()
  #last: { readonly point: StoreInstant; readonly state: QueueAt } | undefined

  /** Adds new entries, and newer versions of entries that have ended. Both are in the order of `seq`. */
  add(entries: Iterable<TraceEntry>): void {
    for (const entry of entries) this.#take(entry)
    this.#last = undefined
  }

  #take(entry: TraceEntry): void {
    const { type, seq } = entry
    if (isOf(entry, 'setting')) this.#settings.push(entry)
    else if (type === 'request' && changesDeadLetters(entry)) replaceIn(this.#taken, entry)
    const id = this.#messageOf(entry)
    if (id === undefined) return
    this.#owner.set(seq, id)
    const story = this.#stories.get(id)
    if (story === undefined) this.#stories.set(id, new MessageStates(id, entry))
    else story.add(entry)
    if (isOf(entry, 'dead-letter')) this.#letters.push(entry)
  }

  #messageOf(entry: TraceEntry): string | undefined {
    // The fault that dropped a message has no message ID, but its cause is an entry of that message. A deduplicated
    // publish creates no message.
    if (entry.type === 'fault') return entry.fault === 'drop' ? this.#owner.get(entry.cause ?? 0) : undefined
    return entry.type === 'published' && entry.deduplicated === true
      ? undefined
      : (entry.messageId as string | undefined)
  }

  story(id: string): MessageStates | undefined {
    return this.#stories.get(id)
  }

  /** Returns the state of the queue at this point of the log. */
  at(point: StoreInstant): QueueAt {
    if (this.#last?.point.seq === point.seq && this.#last.point.at === point.at) return this.#last.state
    const settings = this.#settings.filter(({ seq, at }) => seq <= point.seq && at <= point.at)
    const began = beginnings(settings)
    const isOfNow = ({ seq, region }: { readonly seq: number; readonly region?: string | undefined }): boolean =>
      seq > (began.get(region) ?? 0)
    const messages = [...this.#stories.values()].flatMap((story) => {
      const message = isOfNow(story.first as never) ? story.at(point) : undefined
      return message === undefined ? [] : [message]
    })
    const live = messages.filter(isLive)
    const current = settings.filter(isOfNow)
    const state: QueueAt = {
      messages,
      deadLetters: this.#deadLetters(point, isOfNow),
      lanes: fifoQueuesOf(current, messages, live),
      flowKeys: flowKeysOf(current, messages, live),
      schedules: schedulesOf(current, settings),
      groups: groupsOf(messages),
    }
    this.#last = { point, state }
    return state
  }

  #deadLetters(point: StoreInstant, isOfNow: (entry: EntryOf<'dead-letter'>) => boolean): readonly DeadLetterAt[] {
    const letters = this.#letters.filter((entry) => entry.seq <= point.seq && entry.at <= point.at && isOfNow(entry))
    return letters.map((entry) => {
      const taker = this.#taken.find(
        (request) => request.seq > entry.seq && request.seq <= point.seq && takes(request, entry.dlqId),
      )
      const message = this.#stories.get(entry.messageId)?.at(point)
      return { id: entry.dlqId, entry, message, ...(taker !== undefined && { takenBy: taker.seq }) }
    })
  }
}

/** Returns whether the API of the queue would list this message. */
export function isLive({ state }: MessageAt): boolean {
  return !isOver(state) && state !== 'CANCEL_REQUESTED'
}

/** Returns why a message waits, if the log contains the reason. The reason can also be its FIFO queue. */
export function reasonOf(
  { why, state, due = 0, story }: MessageAt,
  { lanes }: QueueAt,
  now: number,
): string | undefined {
  const { queue } = story.said
  if (why !== undefined || queue === undefined || state !== 'CREATED' || due > now) return why
  const lane = lanes.find(({ name, region }) => name === queue && region === story.region)
  return lane?.paused === true ? `queue ${queue} is paused` : `its turn in queue ${queue}`
}

/** Returns the `seq` of the last reset or load of the queue, by region. */
function beginnings(settings: readonly Setting[]): ReadonlyMap<string | undefined, number> {
  const began = new Map<string | undefined, number>()
  for (const { resource: of, seq, region } of settings) if (of === 'service') began.set(region, seq)
  return began
}

function replaceIn(list: TraceEntry[], entry: TraceEntry): void {
  const at = list.findIndex(({ seq }) => seq === entry.seq)
  if (at < 0) list.push(entry)
  else list[at] = entry
}

const ofDeadLetters = /\/v2\/dlq(?:\/retry)?(?:\/|\?|$)/

function changesDeadLetters({ service, method, url }: TraceEntry): boolean {
  return service === 'queue' && method !== 'GET' && ofDeadLetters.test(String(url))
}

/**
 * Returns whether this request removed the dead letter. The request must have succeeded and must contain the ID of the
 * dead letter.
 */
function takes({ url, body, response: answer }: TraceEntry, id: string): boolean {
  const { status = 0 } = (answer ?? {}) as { status?: number }
  return status >= 200 && status < 300 && (names(String(url), id) || names(JSON.stringify(body ?? ''), id))
}

function names(text: string, id: string): boolean {
  const at = text.indexOf(id)
  return at >= 0 && !/\d/.test(text[at + id.length] ?? '')
}
