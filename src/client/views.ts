import type { Check } from '../invariants/check.js'
import { type PortableString, portableString } from '../kernel/portable.js'
import type { DeadLetter } from '../queue/delivery/dead-letters.js'
import type { Message } from '../queue/message/message.js'
import type { UrlGroup } from '../queue/publish/url-groups.js'
import type { Schedule } from '../queue/schedules/schedules.js'
import { entryOf } from '../report/load-trace.js'
import type { TraceEntry } from '../report/trace.js'
import type { WorkflowRun } from '../workflow/direct.js'

/** What a remote sandbox says about a message. Times are virtual milliseconds since the Unix epoch. */
export type MessageView = Pick<
  Message,
  | 'id'
  | 'kind'
  | 'url'
  | 'method'
  | 'body'
  | 'state'
  | 'time'
  | 'notBefore'
  | 'due'
  | 'retried'
  | 'maxRetries'
  | 'ended'
>

export interface DeadLetterView extends Pick<DeadLetter, 'id' | 'time'> {
  readonly message: MessageView
  readonly reply: Pick<DeadLetter['reply'], 'status' | 'error' | 'body'>
}

export type ScheduleView = Pick<Schedule, 'id' | 'createdAt' | 'paused' | 'lastTime' | 'nextTime' | 'error'>

export type UrlGroupView = Pick<UrlGroup, 'name' | 'createdAt' | 'updatedAt' | 'endpoints'>

/** A view on its way: bytes as text or base64. */
export type Wire<T> = { [K in keyof T]: K extends 'body' ? PortableString : T[K] extends object ? Wire<T[K]> : T[K] }

export function messageView(message: MessageView): Wire<MessageView> {
  const { id, kind, url, method, body, state, time, notBefore, due, retried, maxRetries, ended } = message
  return {
    id,
    kind,
    url,
    method,
    body: portableString(body),
    state,
    time,
    notBefore,
    due,
    retried,
    maxRetries,
    ended,
  } as Wire<MessageView>
}

export function deadLetterView({ id, time, message, reply }: DeadLetter): unknown {
  const { status, error, body } = reply
  return { id, time, message: messageView(message), reply: { status, error, body: portableString(body) } }
}

export function scheduleView({ id, createdAt, paused, lastTime, nextTime, error }: Schedule): ScheduleView {
  return { id, createdAt, paused, lastTime, nextTime, error }
}

export function urlGroupView({ name, createdAt, updatedAt, endpoints }: UrlGroup): UrlGroupView {
  return { name, createdAt, updatedAt, endpoints }
}

/** What a remote sandbox says about a run of a workflow. Times are virtual milliseconds since the Unix epoch. */
export type RunView = Pick<WorkflowRun, 'id' | 'url' | 'state' | 'createdAt' | 'completedAt' | 'result'>

export function runView({ id, url, state, createdAt, completedAt, result }: RunView): RunView {
  return { id, url, state, createdAt, completedAt, result }
}

/** A check on its way. */
export interface WireCheck extends Omit<Check, 'breaches'> {
  readonly breaches: readonly WireBreach[]
}

export type WireBreach = Omit<Check['breaches'][number], 'entries'> & { readonly entries: readonly TraceEntry[] }

export function checkOfWire({ breaches, ...check }: WireCheck): Check {
  return { ...check, breaches: breaches.map((breach) => ({ ...breach, entries: breach.entries.map(entryOf) })) }
}
