import type { PortableString } from '../../../../src/kernel/portable.js'
import type { EntryOf, MessageKind } from '../../../../src/kernel/traffic-log.js'
import type { TraceEntry } from '../../../../src/report/trace.js'

/**
 * Injection point and match of a fault rule, so that the rule hits the event of an entry when that event occurs again.
 */
export interface FaultTarget {
  readonly label: string
  readonly on: string
  readonly match: Readonly<Record<string, string>>
}

/** Returns the targets of an entry, by entry type. */
const targets: Readonly<Record<string, (entry: never) => readonly FaultTarget[]>> = {
  published: ofMessage,
  attempt: ofMessage,
  message: ofMessage,
  'flow-control': ofMessage,
  request: ({ service, url, method }: EntryOf<'request'>) => [
    {
      label: `the next ${method} request to the ${service} like this one`,
      on: `${service}.request`,
      match: { method, url: withoutQuery(url) },
    },
  ],
  command: ({ argv }: { readonly argv: readonly PortableString[] }) => {
    const [name, key] = argv
    if (typeof name !== 'string') return []
    const ofCommand = { label: `the next ${name.toUpperCase()}`, on: 'store.command', match: { command: name } }
    if (typeof key !== 'string' || key === '') return [ofCommand]
    const match = { command: name, key: key.replace(/[*?[\]\\^]/g, '\\$&') }
    return [{ label: `the next ${name.toUpperCase()} of this key`, on: 'store.command', match }, ofCommand]
  },
  outbound: ({ url, method }: EntryOf<'outbound'>) => [
    {
      label: `the next ${method} request of the app like this one`,
      on: 'outbound.request',
      match: { method, url: withoutQuery(url) },
    },
  ],
  setting: ({ resource: of, name }: EntryOf<'setting'>) =>
    of === 'schedule'
      ? [{ label: 'the next firing of this schedule', on: 'schedule.fire', match: { scheduleId: name } }]
      : [],
  step: ({ runId, stepName }: EntryOf<'step'>) => [
    { label: 'this step of the run', on: 'workflow.step', match: { runId, step: stepName } },
  ],
  wait: ({ runId, stepName }: EntryOf<'wait'>) => [
    { label: 'this wait of the run', on: 'workflow.wait', match: { runId, step: stepName } },
  ],
}

interface OfMessage {
  readonly messageId: string
  readonly kind?: MessageKind
  readonly url?: string
}

function ofMessage({ messageId, kind, url }: OfMessage): readonly FaultTarget[] {
  const on = kind === undefined || kind === 'message' ? 'queue.delivery' : 'queue.callback'
  const next = { label: 'the next attempt of this message', on, match: { messageId } }
  if (url === undefined) return [next]
  return [next, { label: 'the next attempt to this URL', on, match: { url: withoutQuery(url) } }]
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}

/** Returns targets for a fault rule, derived from an entry. The most specific target is first. */
export function targetsOf(entry: TraceEntry | undefined): readonly FaultTarget[] {
  return entry === undefined ? [] : (targets[entry.type]?.(entry as never) ?? [])
}
