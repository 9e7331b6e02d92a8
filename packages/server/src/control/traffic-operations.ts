import { latin1, utf8 } from '../../../../src/kernel/bytes.js'
import type { Duration } from '../../../../src/kernel/duration.js'
import { milliseconds, parseDuration } from '../../../../src/kernel/duration.js'
import { type Entry, entryTypes } from '../../../../src/kernel/traffic-log.js'
import { weightOf } from '../../../../src/kernel/weight.js'
import { HttpError, jsonText } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { changesSince, redactedChange } from '../../../../src/report/redacted-changes.js'
import { EntryWriter, traceOf } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { bytesOf, entryStream } from './entry-stream.js'
import { inSlices, maxInSlices, refuseLarge, sizeOfEntries, sizeOfEntry } from './large.js'
import { type ControlOperation, type OperationContext, order } from './operation.js'
import { listed, maxItems, partOf, wholeNumber } from './operation-parts.js'
import { nothing } from './schemas.js'
import { writerOf } from './wire-entry.js'

const which = {
  type: 'types with commas between them: `attempt,request`',
  after: 'the `seq` of the last entry that is known',
  message: 'the id of a message',
}

export const trafficOrders: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/traffic',
    summary: 'Entries of the traffic log; with `wait` answers as soon as there is one.',
    query: { ...which, ...partOf, wait: 'how long to wait for an entry, in host time: `10s`, at most a minute' },
    tool: {
      name: 'list_entries',
      does: 'What was captured, entry by entry, with everything but secrets.',
      when: 'For headers, bodies and answers that the timeline leaves out. Of one message: `message`.',
      effect: 'reads',
      next: 'call again with `after` of the last `seq` for those that follow.',
      without: ['wait'],
      defaults: { limit: 10 },
      ofTraces: true,
    },
    run: (sandbox, _, asked) => longPoll(sandbox, asked),
  },
  {
    method: 'GET',
    path: '/traffic/stream',
    summary:
      'Entries as server-sent events, as they come; one that had not ended when it was sent comes again at its end. An event `reset` says that the world was reset or loaded.',
    query: which,
    answers: 'text/event-stream',
    run: (sandbox, _, asked) => streamed(sandbox, asked),
  },
  {
    method: 'GET',
    path: '/traffic/trace',
    summary:
      'The traffic as a trace, which `stuntdouble diff` and `loadTrace()` read, with what each command left in the store; secrets are hidden.',
    query: {
      redact: 'more names that hold secrets, with commas between them; `body` hides all bodies',
      bodies: 'bytes of a body that are kept; all without it',
      after: 'the `seq` of the last entry that is left out',
      limit: 'how many entries, the first ones',
    },
    run: ({ traffic }, _, { query }) => traced(traffic, query),
  },
  {
    method: 'GET',
    path: '/traffic/mark',
    summary: 'This place in the log, for `after`.',
    run: ({ traffic }) => ({ mark: traffic.mark() }),
  },
  {
    method: 'GET',
    path: '/traffic/timeline',
    summary: 'The story as text.',
    query: {
      limit: 'how many entries to show, the latest',
      after: 'the `seq` of the last entry that is not shown',
      around: 'the `seq` of an entry that `limit` must not cut away',
      ids: '`full` writes ids of messages out; `short`, the default, as far as it takes to tell them apart',
    },
    answers: 'text/plain',
    tool: {
      name: 'get_timeline',
      does: 'The story as text, with the reason of every wait.',
      when: 'The best overview: who called whom, what was answered, why each wait. Shows the latest entries; `after` and `around` show others.',
      effect: 'reads',
      next: 'list_entries with `after` for details of one, explain_message for a message.',
      defaults: { limit: 40, ids: 'full' },
      ofTraces: true,
    },
    run: ({ traffic }, _, { query }) => {
      const [limit, after, around] = ['limit', 'after', 'around'].map((name) => wholeNumber(query, name))
      const shown = after === undefined ? traffic : traffic.since(after)
      refuseLong(limit ?? shown.size, 'Ask for the latest with `limit`.')
      return plainText(
        shown.timeline({
          ...(limit !== undefined && { limit }),
          ...(around !== undefined && { around }),
          ids: oneOf(query, 'ids', ['short', 'full']),
        }),
      )
    },
  },
  {
    method: 'GET',
    path: '/traffic/diagram',
    summary: 'The story as a sequence diagram.',
    query: { format: '`text` or `mermaid`', after: 'the `seq` of the last entry that is not shown' },
    answers: 'text/plain',
    tool: {
      name: 'get_diagram',
      when: 'For a person, or for a document with `mermaid`.',
      effect: 'reads',
      next: 'get_timeline for the same with reasons.',
      ofTraces: true,
    },
    run: ({ traffic }, _, { query }) => {
      const shown = traffic.since(wholeNumber(query, 'after') ?? 0)
      refuseLong(shown.size, 'Ask for what follows an entry with `after`.')
      return plainText(shown.diagram({ format: oneOf(query, 'format', ['text', 'mermaid']) }))
    },
  },
  order({
    method: 'DELETE',
    path: '/traffic',
    summary: 'Forgets all entries; numbering continues.',
    body: nothing,
    run: ({ traffic }) => traffic.clear(),
  }),
]

/** A story that nobody could read is not written: every entry of it takes its time. */
function refuseLong(entries: number, instead: string): void {
  if (entries <= maxItems) return
  throw new HttpError(400, `There are ${entries} entries; one answer shows at most ${maxItems} of them. ${instead}`)
}

/** A trace as JSON, made in slices. Entries and changes are those of the moment at which it was asked for. */
async function traced(traffic: Traffic, query: URLSearchParams): Promise<RawResponse> {
  const [bodies = Number.POSITIVE_INFINITY, after = 0, limit] = ['bodies', 'after', 'limit'].map((name) =>
    wholeNumber(query, name),
  )
  const redaction = traffic.redaction(query.getAll('redact').flatMap((list) => list.split(',')))
  const entries = traffic.since(after).entries.slice(0, limit)
  const last = limit === undefined ? undefined : entries.at(-1)?.seq
  const { store } = traffic.context
  const left = store === undefined ? [] : changesSince(store, redaction, after)
  const changes = last === undefined ? left : left.filter(({ seq }) => seq <= last)
  // One entry is always told, or a large one could never be read.
  if (entries.length > 1) {
    const size = changes.reduce((sum, change) => sum + weightOf(change), sizeOfEntries(entries, bodies))
    const instead = 'Ask for a part with `limit` and then `after`, or for shorter bodies with `bodies`.'
    refuseLarge(size, maxInSlices, 'The trace', instead)
  }
  const facts = JSON.stringify(traceOf([], traffic.context, redaction))
  const writer = new EntryWriter(redaction, bodies)
  const told = await inSlices(entries, sizeOfEntry, (entry) => utf8(JSON.stringify(writer.entry(entry))))
  const ofKeys = await inSlices(changes, weightOf, (change) => utf8(JSON.stringify(redactedChange(change, redaction))))
  const end = ofKeys.length === 0 ? ']}' : `],"changes":[${ofKeys.join(',')}]}`
  // The entries are the last of its facts.
  return jsonText(latin1(`${utf8(facts.slice(0, -2))}${told.join(',')}${end}`))
}

export const maxWait = 60_000

/** A filter out of the query parameters that every reading order has. */
function wantedBy(query: URLSearchParams): (entry: Entry) => boolean {
  const types = query.getAll('type').flatMap((list) => list.split(','))
  const unknown = types.find((type) => !Object.hasOwn(entryTypes, type))
  if (unknown !== undefined) {
    const names = Object.keys(entryTypes).join(', ')
    throw new HttpError(400, `There are no entries of type ${JSON.stringify(unknown)}. Use ${names}.`)
  }
  const after = wholeNumber(query, 'after') ?? 0
  const message = query.get('message')
  return (entry) =>
    entry.seq > after &&
    (types.length === 0 || types.includes(entry.type)) &&
    (message === null || ('messageId' in entry && entry.messageId === message))
}

/** A message's own entries are indexed: those of a long log need not be looked through. */
function source({ traffic }: Sandbox, query: URLSearchParams): readonly Entry[] {
  const message = query.get('message')
  return message === null ? traffic.entries : traffic.forMessage(message)
}

function longPoll(sandbox: Sandbox, asked: OperationContext): unknown {
  const { query, call } = asked
  const wanted = wantedBy(query)
  const find = (): readonly Entry[] => source(sandbox, query).filter(wanted)
  const given = query.get('wait')
  if (given !== null && parseDuration(given) === undefined) throw new HttpError(400, 'wait is a duration such as 10s.')
  const found = find()
  if (found.length > 0 || given === null) return told(sandbox, found, asked)
  return new Promise<readonly Entry[]>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      for (const forget of forgets) forget()
      resolve(find())
    }
    const timer = setTimeout(end, Math.min(milliseconds(given as Duration), maxWait))
    // What one call leads to belongs together: a turn of the event loop lets it all arrive.
    const forgets = [
      sandbox.traffic.subscribe((entry) => {
        if (wanted(entry)) setImmediate(end)
      }),
      // Of a world that is over nothing more can come.
      sandbox.onReset(end),
      sandbox.onDispose(end),
    ]
    call.signal?.addEventListener('abort', end)
  }).then((entries) => told(sandbox, entries, asked))
}

function told(sandbox: Sandbox, entries: readonly Entry[], asked: OperationContext): Promise<RawResponse> {
  const writer = writerOf(sandbox)
  return listed(entries, asked, { of: 'entries', view: (entry) => writer.entry(entry), size: bytesOf })
}

function streamed(sandbox: Sandbox, { query }: OperationContext): RawResponse {
  const wanted = wantedBy(query)
  const anew = new URLSearchParams(query)
  anew.delete('after')
  const wantedAnew = wantedBy(anew)
  const body = entryStream(sandbox, firstOf(sandbox, query), (entry, isRenewed) =>
    isRenewed ? wantedAnew(entry) : wanted(entry),
  )
  return { status: 200, headers: [['content-type', 'text/event-stream']], body }
}

/** After which entry there is something to read: those of a message begin with it. */
function firstOf({ traffic }: Sandbox, query: URLSearchParams): number {
  const after = wholeNumber(query, 'after') ?? 0
  const message = query.get('message')
  const [first] = message === null ? [] : traffic.forMessage(message)
  return Math.max(after, first === undefined ? 0 : first.seq - 1)
}

function oneOf<const T extends string>(query: URLSearchParams, name: string, values: readonly [T, ...T[]]): T {
  const given = query.get(name) ?? values[0]
  const found = values.find((value) => value === given)
  if (found === undefined) throw new HttpError(400, `${name} is ${values.join(' or ')}.`)
  return found
}

function plainText(text: string): RawResponse {
  return { status: 200, headers: [['content-type', 'text/plain; charset=utf-8']], body: utf8(text) }
}
