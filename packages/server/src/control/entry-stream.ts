import { type Bytes, toArray, utf8 } from '../../../../src/kernel/bytes.js'
import { hostPause } from '../../../../src/kernel/host.js'
import type { Entry } from '../../../../src/kernel/traffic-log.js'
import { chunkFor, dataLine, ReaderTooSlow } from '../../../../src/protocol/event-stream.js'
import type { EntryWriter } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { writerOf } from './wire-entry.js'

/** Entries that may have come since a reader began, and wait for it; and that changed after it had them. */
export const maxWaiting = 100_000

/** Bytes of the entries that may come while a reader takes nothing. */
export const maxBytesWaiting = 16_777_216

/** Bytes from which what was gathered is handed on, so that others have their turn. */
const slice = 65_536

/** Entries that are looked at in a row. */
const lookedAtInARow = 5_000

/** Worlds whose logs are kept for a reader who is behind; of those before, it gets no more entries. */
export const maxSandboxes = 4

/** Silence after which a comment keeps the connection open, in host milliseconds. */
const keepAlive = 15_000

/** Which entries a reader wants; of a world that was made anew, whose numbering begins anew, too. */
export type Wanted = (entry: Entry, isRenewed: boolean) => boolean

/**
 * Entries as server-sent events, the ones that are there and the ones that come. They are read from the log when the reader
 * takes them: one that waits and changes meanwhile is sent once, as it is then, and a slow reader costs no copies. Where
 * the log has dropped what a reader did not take, its own entry says so.
 * @param after `seq` of the last entry that is not wanted
 */
export function entryStream(sandbox: Sandbox, after: number, wanted: Wanted): ReadableStream<Uint8Array> {
  const worlds = [new Reading(sandbox.traffic, after)]
  /** Bytes of what has come since the reader took something. */
  let bytes = 0
  let isSuspected = false
  let wake: (() => void) | undefined
  let end = (): void => {}
  const isBehind = (): boolean => bytes > maxBytesWaiting || worlds.at(-1)!.behind > maxWaiting
  /** Large events that wait for the reader's next look, each an array that all readers share. */
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
          // What one turn of the event loop brings is no reason: it has had no time to take it.
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
          // What a world was filled with is in its log before it takes the place of the one before.
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
            controller.error(new ReaderTooSlow('All readers together have too much to take, and this one was dropped.'))
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
          // Many readers are woken at once: the first entry is for all of them, the rest waits for their turns.
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

/** What of the log of one world a reader has taken. */
class Reading {
  #traffic: Traffic | undefined
  /** `seq` of the last entry that was taken, or passed over. */
  #last: number
  /** `seq` of the newest entry when it began: a long log that was there is no reason to drop its reader. */
  readonly #begun: number
  /** Entries that have changed since they were taken, each with the newest entry there was then. */
  readonly again = new Map<Entry, number>()
  /** Another world has taken the place of the one before, which the reader is still to be told. */
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

  /** Entries that wait for the reader. */
  get behind(): number {
    return Math.max(this.again.size, this.#newest - Math.max(this.#last, this.#begun))
  }

  get isEnded(): boolean {
    return this.#traffic === undefined && this.renewed === undefined
  }

  /** Hears of an entry. @returns whether it is new */
  note(entry: Entry): boolean {
    const newest = this.#newest
    if (entry.seq <= this.#last && !this.again.has(entry)) this.again.set(entry, newest)
    return entry.seq >= newest && !('endedAfterSeq' in entry)
  }

  /** The next entry; `undefined` when all were taken. */
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

  /** Of a world that is over long since nothing more is sent. */
  skip(): void {
    this.#traffic = undefined
    this.again.clear()
  }

  /** Where the first entry stands that was not taken. */
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
  /** A large event that comes behind the text. */
  readonly array?: Uint8Array
  /** Whether that is all there is. */
  readonly isOver: boolean
}

/** Events of so many bytes, or a little more. */
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

/** Events that were made in this turn of the event loop: many readers may want the same ones. */
let events: { readonly writer: EntryWriter; readonly of: Map<Entry, Event> } | undefined

interface Event {
  readonly text: Bytes
  /** Made when somebody is sent it by itself. */
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

/** It has changed. */
function forget(entry: Entry): void {
  events?.of.delete(entry)
}

/** Bytes of the bodies of an entry. */
export function bytesOf(entry: Entry): number {
  return ('body' in entry ? entry.body.length : 0) + endBytesOf(entry)
}

/** Bytes of what came at its end. */
function endBytesOf(entry: Entry): number {
  if (entry.type === 'attempt') return entry.outcome?.body.length ?? 0
  return entry.type === 'request' || entry.type === 'outbound' ? (entry.response?.body?.length ?? 0) : 0
}
