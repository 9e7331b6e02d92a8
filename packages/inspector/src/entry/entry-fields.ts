import { formatDuration } from '../../../../src/kernel/duration.js'
import { multiLine, plainText } from '../../../../src/report/safe-text.js'
import type { TraceEntry } from '../../../../src/report/trace.js'
import { kindOf } from '../entry-kinds.js'
import { shownDate, shownTime } from '../shown-dates.js'

export interface EntryField {
  readonly name: string
  readonly text: string
  /** `seq` of an entry to which the field links. */
  readonly seq?: number
}

type Reader = (value: unknown, entry: TraceEntry) => string

const plain: Reader = (value) => (typeof value === 'string' ? value : JSON.stringify(value))
const instant: Reader = (value) =>
  typeof value === 'number' ? `${shownDate(value)} ${shownTime(value)}` : plain(value, none)
const yes: Reader = (value) => (value === true ? 'yes' : value === false ? 'no' : plain(value, none))
const list: Reader = (value) =>
  Array.isArray(value) ? value.map((item) => plain(item, none)).join(', ') : plain(value, none)
const none = {} as TraceEntry

/** Label of each field, and a function that formats its value. `null`: another part of the panel shows the field. */
const named: Readonly<Record<string, readonly [name: string, read?: Reader] | null>> = {
  ...{ type: null, seq: null, at: null, cause: null, headers: null, body: null, response: null, outcome: null },
  ...{ store: null, note: null, redact: null, argv: null, reply: null, error: null, waitReason: null, waitedMs: null },
  method: ['Method'],
  url: ['URL'],
  service: ['Service'],
  region: ['Region'],
  database: ['Database'],
  via: ['Via'],
  user: ['User of the store'],
  messageId: ['Message'],
  sourceMessageId: ['Reports on message'],
  dlqId: ['Dead letter'],
  kind: ['Kind'],
  retried: ['Earlier retries'],
  maxRetries: ['Retries allowed'],
  retryDelay: ['Wait between retries'],
  notBefore: ['Not delivered before', instant],
  deduplicated: ['Duplicate', yes],
  deduplicationId: ['Deduplication ID'],
  contentBasedDeduplication: ['Content-based deduplication', yes],
  urlGroup: ['URL group'],
  endpointName: ['Endpoint'],
  queue: ['Queue'],
  scheduleId: ['Schedule'],
  flowControlKey: ['Flow-control key'],
  labels: ['Labels', list],
  callback: ['Callback to'],
  failureCallback: ['Failure callback to'],
  workflowRunId: ['Workflow run'],
  runId: ['Workflow run'],
  runIds: ['Workflow runs', list],
  invokedRunId: ['Run that it begins'],
  stepId: ['Number of the step'],
  stepName: ['Step'],
  stepType: ['Kind of step'],
  planned: ['Parallel to others', yes],
  contextBytes: ['Bytes of payload and results'],
  eventId: ['Event'],
  kept: ['Kept for later', yes],
  until: ['Until', instant],
  handlerRuns: ['Number of handler runs'],
  possibleCauses: ['Caused by one of', list],
  endedAfterSeq: ['Last entry before its end'],
  state: ['State'],
  reason: ['Reason'],
  status: ['Status'],
  decision: ['Decision'],
  event: ['What happened'],
  key: ['Key'],
  resource: ['Setting of'],
  name: ['Name'],
  change: ['Change'],
  value: ['New value'],
  point: ['Injection point'],
  fault: ['Fault'],
  target: ['Target'],
  rule: ['Rule'],
  effect: ['Effect'],
  move: ['Move'],
  to: ['Time afterwards', instant],
  count: ['Entries dropped'],
  limit: ['Limit'],
  unit: ['Limit counts'],
}

/** Fields that have another meaning or another label in one entry type. */
const namedOfType: Readonly<Record<string, (typeof named)[string]>> = {
  'attempt.reason': null,
  'clock.count': ['Moves'],
}

/** Returns the labeled fields of an entry, without those that another part of the panel shows. */
export function fieldsOf(entry: TraceEntry): readonly EntryField[] {
  const fields: EntryField[] = [
    { name: 'What', text: kindOf(entry).name },
    { name: 'When', text: `${shownDate(entry.at)} ${shownTime(entry.at)}` },
  ]
  const end = ((entry.response ?? entry.outcome) as { at?: number } | undefined)?.at
  if (end !== undefined) {
    fields.push({ name: 'Ended', text: `${shownDate(end)} ${shownTime(end)}, after ${formatDuration(end - entry.at)}` })
  }
  for (const [field, value] of Object.entries(entry)) {
    const ofType = `${entry.type}.${field}`
    const known = Object.hasOwn(namedOfType, ofType)
      ? namedOfType[ofType]
      : Object.hasOwn(named, field)
        ? named[field]
        : ([field] as const)
    if (known === null || known === undefined || value === undefined) continue
    const [name, read = plain] = known
    const isLink = field === 'endedAfterSeq' && typeof value === 'number'
    fields.push({
      name: plainText(name),
      text: isLink ? `#${value}` : multiLine(read(value, entry) ?? ''),
      ...(isLink && { seq: value }),
    })
  }
  return fields
}
