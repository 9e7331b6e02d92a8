import { type Bytes, toArray, utf8 } from '../../../../src/kernel/bytes.js'
import { hostPause } from '../../../../src/kernel/host.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { chunkFor, dataLine, ReaderTooSlow } from '../../../../src/protocol/event-stream.js'
import type { EntryWriter } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { writerOf } from './wire-entry.js'

/**
 * Maximum number of pending entries of a reader. These are entries that the reader has not received yet, or received
 * entries that have changed since. A reader with more pending entries is dropped.
 */
export const maxWaiting = 100_000

/** Maximum bytes of new entries since a reader last received data. A reader above this maximum is dropped. */
export const maxBytesWaiting = 16_777_216

/** Events are sent in parts of about this many bytes. Other requests can run between two parts. */
const slice = 65_536

/** Maximum number of entries that are checked before other requests can run. */
const lookedAtInARow = 5_000

/**
 * Maximum number of sandboxes whose logs a slow reader keeps in memory. Each reset starts a new sandbox. From older
 * sandboxes, the reader gets no more entries.
 */
export const maxSandboxes = 4

/** Time without data after which a comment is sent to keep the connection open, in milliseconds of host time. */
const keepAlive = 15_000

/**
 * Returns whether a reader wants an entry. If `isRenewed` is true, the sandbox was reset or loaded, and entries count
 * from 1 again.
 */
export type Wanted = (entry: Entry, isRenewed: boolean) => boolean

/**
 * Returns existing and future entries as server-sent events. An entry is read from the log only when the reader can
 * receive it. No copies are therefore kept for a slow reader. An entry that changes while it is pending is sent only
 * once, in its final state. If the log has dropped entries that the reader did not receive, an entry of type `dropped`
 * reports this.
 * @param after `seq` of the last entry to omit
 */
export function entryStream(sandbox: Sandbox, after: number, wanted: Wanted): ReadableStream<Uint8Array> {
  const worlds = [new Reading(sandbox.traffic, after)]
  /** Bytes of new entries since the reader last received data. */
  let bytes = 0
  let isSuspected = false
  let wake: (() => void) | undefined
  let end = (): void => {}
  const isBehind = (): boolean => bytes > maxBytesWaiting || worlds.at(-1)!.behind > maxWaiting
  /** The next event, if it is large. All readers share this array. */
  let large: Uint8Array | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const drop = (): void => {
          if (!isBehind()) return
          end()
          controller.error(new ReaderTooSlow('The reader of this stream was too slow and was dropped.'))
        }
        const add = (entry: Entry): void => {
          forget(entry)
          const world = worlds.at(-1)!
          const isNew = world.note(entry)
          if (!wanted(entry, world.renewed !== undefined)) return
          if (wake !== undefined) {
            wake()
            return
          }
          bytes += isNew ? bytesOf(entry) : endBytesOf(entry)
          if (isSuspected || !isBehind()) return
          // Check again later, because a reader cannot receive entries before the event loop has processed its socket.
          isSuspected = true
          void hostPause()
            .then(hostPause)
            .then(() => {
              isSuspected = false
              drop()
            })
        }
        let unsubscribe = sandbox.traffic.subscribe(add)
        const stay = sandbox.onReset((by) => {
          unsubscribe()
          unsubscribe = sandbox.traffic.subscribe(add)
          // The log of the new sandbox may already contain entries of the loaded data, so read it from its beginning.
          worlds.push(new Reading(sandbox.traffic, 0, by))
          worlds.at(-maxSandboxes - 1)?.skip()
          wake?.()
        })
        const forgetDispose = sandbox.onDispose(() => {
          end()
          controller.close()
        })
        const timer = setInterval(() => {
          if (wake !== undefined) controller.enqueue(toArray(': \n\n' as Bytes))
        }, keepAlive)
        timer.unref()
        end = () => {
          clearInterval(timer)
          unsubscribe()
          stay()
          forgetDispose()
          worlds.splice(0, worlds.length, new Reading(undefined, 0))
          bytes = 0
          wake?.()
        }
      },
      async pull(controller) {
        bytes = 0
        const send = (array: Uint8Array): void => {
          const chunk = chunkFor(body, array)
          if (chunk !== undefined) controller.enqueue(chunk)
          else {
            end()
            controller.error(
              new ReaderTooSlow(
                'The readers of all streams together have too much pending data, so this reader was dropped.',
              ),
            )
          }
        }
        if (large !== undefined) {
          const array = large
          large = undefined
          send(array)
          return
        }
        let { text, isOver, array } = gathered(sandbox, worlds, wanted, slice)
        while (text === '' && array === undefined) {
          if (isOver) {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
            wake = undefined
          } else await hostPause()
          bytes = 0
          // Many readers wake up at the same time. Each one sends only its first entry now, and the others with its
          // next read, so that no other request is delayed.
          ;({ text, isOver, array } = gathered(sandbox, worlds, wanted, 1))
          if (worlds[0]!.isEnded) return
        }
        if (text === '') send(array!)
        else {
          large = array
          controller.enqueue(toArray(text))
        }
      },
      cancel() {
        end()
      },
    },
    { highWaterMark: 0 },
  )
  return body
}

/** Position of a reader in the log of one sandbox. */
class Reading {
  #traffic: Traffic | undefined
  /** `seq` of the last entry that was sent or skipped. */
  #last: number
  /**
   * `seq` of the newest entry when the reader connected. Older entries do not count as pending, because a long existing
   * log must not make the reader look slow.
   */
  readonly #begun: number
  /** Entries that changed after they were sent, each with the `seq` of the newest entry at that time. */
  readonly again = new Map<Entry, number>()
  /** Whether the event `reset` was sent for this sandbox. */
  isTold = false

  constructor(
    traffic: Traffic | undefined,
    last: number,
    readonly renewed?: 'reset' | 'load',
  ) {
    this.#traffic = traffic
    this.#last = last
    this.#begun = this.#newest
  }

  get #newest(): number {
    return this.#traffic?.entries.at(-1)?.seq ?? 0
  }

  /** Number of entries that the reader has not received yet. */
  get behind(): number {
    return Math.max(this.again.size, this.#newest - Math.max(this.#last, this.#begun))
  }

  get isEnded(): boolean {
    return this.#traffic === undefined && this.renewed === undefined
  }

  /** Registers a new or changed entry. Returns whether it is new. */
  note(entry: Entry): boolean {
    const newest = this.#newest
    if (entry.seq <= this.#last && !this.again.has(entry)) this.again.set(entry, newest)
    return entry.seq >= newest && !('endedAfterSeq' in entry)
  }

  /** Returns the next entry to send, or `undefined` when all were sent. */
  next(): Entry | undefined {
    const entry = this.#traffic?.entries[this.#place()]
    const [changed] = this.again
    if (changed !== undefined && (entry === undefined || changed[1] <= this.#last)) {
      this.again.delete(changed[0])
      return changed[0]
    }
    if (entry !== undefined) this.#last = entry.seq
    return entry
  }

  /** Skips the remaining entries of an old sandbox. */
  skip(): void {
    this.#traffic = undefined
    this.again.clear()
  }

  /** Returns the index of the first entry that was not sent. */
  #place(): number {
    const { entries } = this.#traffic!
    const guess = this.#last + 1 - (entries[0]?.seq ?? 0)
    if (entries[guess]?.seq === this.#last + 1) return guess
    let [low, high] = [0, entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (entries[middle]!.seq > this.#last) high = middle
      else low = middle + 1
    }
    return low
  }
}

interface Gathered {
  readonly text: Bytes
  /** A large event to send after the text. */
  readonly array?: Uint8Array
  /** Whether no more entries are available. */
  readonly isOver: boolean
}

/** Collects the next events until they have `most` bytes, or until no more events are available. */
function gathered(sandbox: Sandbox, worlds: Reading[], wanted: Wanted, most: number): Gathered {
  let text = ''
  for (let looked = 0; looked < lookedAtInARow && text.length < most; looked++) {
    const world = worlds[0]!
    if (world.renewed !== undefined && !world.isTold) {
      world.isTold = true
      text += `event: reset\n${dataLine(utf8(JSON.stringify({ by: world.renewed })))}`
      continue
    }
    const entry = world.next()
    if (entry !== undefined) {
      if (!wanted(entry, world.renewed !== undefined)) continue
      const event = eventOf(entry, writerOf(sandbox))
      if (event.text.length < slice) text += event.text
      else {
        event.array ??= toArray(event.text)
        return { text: text as Bytes, array: event.array, isOver: false }
      }
    } else if (worlds.length > 1) worlds.shift()
    else return { text: text as Bytes, isOver: true }
  }
  return { text: text as Bytes, isOver: false }
}

/** Cache of encoded events, which all readers share. It is cleared after the current iteration of the event loop. */
let events: { readonly writer: EntryWriter; readonly of: Map<Entry, Event> } | undefined

interface Event {
  readonly text: Bytes
  /** The text as bytes. Only large events have this field. */
  array?: Uint8Array
}

function eventOf(entry: Entry, writer: EntryWriter): Event {
  if (events?.writer !== writer) {
    if (events === undefined) {
      void hostPause().then(() => {
        events = undefined
      })
    }
    events = { writer, of: new Map() }
  }
  const known = events.of.get(entry)
  if (known !== undefined) return known
  const event: Event = { text: dataLine(utf8(JSON.stringify(writer.entry(entry)))) }
  events.of.set(entry, event)
  return event
}

/** Drops the cached event of an entry that has changed. */
function forget(entry: Entry): void {
  events?.of.delete(entry)
}

/** Returns the total length of the bodies of an entry, in bytes. */
export function bytesOf(entry: Entry): number {
  return ('body' in entry ? entry.body.length : 0) + endBytesOf(entry)
}

/** Returns the length of the body that is added to an entry when the entry ends, in bytes. */
function endBytesOf(entry: Entry): number {
  if (entry.type === 'attempt') return entry.outcome?.body.length ?? 0
  return entry.type === 'request' || entry.type === 'outbound' ? (entry.response?.body?.length ?? 0) : 0
}
