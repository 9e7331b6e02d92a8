import type { InvariantReport } from '../invariants/invariant-check.js'
import type { Bytes } from '../kernel/bytes.js'
import { bytesOf, type PortableString, portableString } from '../kernel/portable.js'
import type { DeadLetter } from '../queue/delivery/callbacks-and-dead-letters.js'
import type { Message, MessageView } from '../queue/message/message.js'
import { entryOf } from '../report/load-trace.js'
import type { TraceEntry } from '../report/trace.js'

export type { BulkActionView } from '../queue/bulk-actions.js'
export type { DeadLetterView } from '../queue/delivery/callbacks-and-dead-letters.js'
export type { MessageView } from '../queue/message/message.js'
export type { UrlGroupView } from '../queue/publish/url-groups.js'
export type { ScheduleView } from '../queue/schedules/schedule.js'
export type { RunView } from '../workflow/direct-workflows.js'

/** JSON form of a view. Its `body` is text or base64. */
export type OnWire<T> = {
  [K in keyof T]: K extends 'body' ? PortableString : T[K] extends object ? OnWire<T[K]> : T[K]
}

/** Converts the JSON form of a view to a view, whose `body` is a byte string. */
export function viewOf<T extends { readonly body: Bytes }>(wire: OnWire<T>): T {
  return { ...wire, body: bytesOf(wire.body as PortableString) } as T
}

export function messageView(message: Message): OnWire<MessageView> {
  return { ...message.toJSON(), body: portableString(message.body) }
}

export function deadLetterView(letter: DeadLetter): unknown {
  const { response: reply, ...said } = letter.toJSON()
  return { ...said, message: messageView(letter.message), response: { ...reply, body: portableString(reply.body) } }
}

/** JSON form of an invariant report. */
export interface WireCheck extends Omit<InvariantReport, 'violations'> {
  readonly violations: readonly WireViolation[]
}

export type WireViolation = Omit<InvariantReport['violations'][number], 'entries'> & {
  readonly entries: readonly TraceEntry[]
}

export function checkOfWire({ violations, ...check }: WireCheck): InvariantReport {
  return { ...check, violations: violations.map((breach) => ({ ...breach, entries: breach.entries.map(entryOf) })) }
}
