import { latin1, utf8 } from '../../../../src/kernel/bytes.js'
import type { Duration } from '../../../../src/kernel/duration.js'
import { milliseconds, parseDuration } from '../../../../src/kernel/duration.js'
import { type Entry, entryTypes } from '../../../../src/kernel/traffic-log.js'
import { weightOf } from '../../../../src/kernel/weight.js'
import { HttpError, jsonText } from '../../../../src/protocol/call.js'
import type { RawResponse } from '../../../../src/protocol/service.js'
import { changesOfAll, redactedChange } from '../../../../src/report/redacted-changes.js'
import { entryWriter, traceOf } from '../../../../src/report/trace.js'
import type { Traffic } from '../../../../src/report/traffic-view.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { bytesOf, entryStream } from './entry-stream.js'
import { inSlices, maxInSlices, refuseLarge, sizeOfEntries, sizeOfEntry } from './large.js'
import { type ControlOperation, type OperationContext, order } from './operation.js'
import { listed, maxItems, partOf, wholeNumber } from './operation-parts.js'
import { nothing } from './schemas.js'
import { writerOf } from './wire-entry.js'

const which = {
  type: 'types with commas between them, such as `attempt,request`',
  after: '`seq` of the last known entry',
  message: 'ID of a message',
}

export const trafficOrders: readonly ControlOperation[] = [
  {
    method: 'GET',
    path: '/traffic',
    summary:
      'Returns entries of the traffic log; with `wait`, responds at the first entry, or with an empty list after that time.',
    query: { ...which, ...partOf, wait: 'how long to wait for an entry, in host time: `10s`, at most one minute' },
    tool: {
      name: 'list_entries',
      does: 'Returns captured entries with everything except secrets.',
      when: 'Use it for headers, bodies and responses, which the timeline omits. `message` selects the entries of one message.',
      effect: 'reads',
      next: 'call again with `after` set to the last `seq` for the entries that follow.',
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
      'Streams entries as server-sent events. If an entry is sent before its request or delivery has ended, it is sent again at the end. The event `reset` means that the sandbox was reset or loaded.',
    query: which,
    answers: 'text/event-stream',
    run: (sandbox, _, asked) => streamed(sandbox, asked),
  },
  {
    method: 'GET',
    path: '/traffic/trace',
    summary:
      'Returns the traffic as a trace for `stuntdouble diff` and `loadTrace()`, with the store changes of each command; secrets are redacted.',
    query: {
      redact: 'additional names of secret fields, with commas between them; `body` redacts all bodies',
      bodies: 'bytes of each body to keep; default: all',
      after: 'returns only entries after this `seq`',
      limit: 'maximum number of entries; the first ones are returned',
    },
    run: ({ traffic }, _, { query }) => traced(traffic, query),
  },
  {
    method: 'GET',
    path: '/traffic/mark',
    summary: 'Returns the current position in the log, for `after`.',
    run: ({ traffic }) => ({ mark: traffic.mark() }),
  },
  {
    method: 'GET',
    path: '/traffic/timeline',
    summary: 'Returns the timeline as text.',
    query: {
      limit: 'maximum number of entries; the latest ones are returned',
      after: 'returns only entries after this `seq`',
      around: '`seq` of an entry that is always included, despite `limit`',
      ids: '`full` prints complete message IDs; `short`, the default, prints unique prefixes',
    },
    answers: 'text/plain',
    tool: {
      name: 'get_timeline',
      when: 'The best overview: requests, responses and the reason of each wait. It shows the latest entries; `after` and `around` select others.',
      effect: 'reads',
      next: 'list_entries with `after` for the details of an entry, explain_message for a message.',
      defaults: { limit: 40, ids: 'full' },
      ofTraces: true,
    },
    run: ({ traffic }, _, { query }) => {
      const [limit, after, around] = ['limit', 'after', 'around'].map((name) => wholeNumber(query, name))
      const shown = after === undefined ? traffic : traffic.since(after)
      refuseLong(limit ?? shown.size, 'Use `limit` to get only the latest entries.')
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
    summary: 'Returns the traffic as a sequence diagram.',
    query: { format: '`text` or `mermaid`', after: 'returns only entries after this `seq`' },
    answers: 'text/plain',
    tool: {
      name: 'get_diagram',
      when: 'Use it to show the traffic to a person. With `mermaid`, the result can go into a document.',
      effect: 'reads',
      next: 'get_timeline for the same entries with reasons.',
      ofTraces: true,
    },
    run: ({ traffic }, _, { query }) => {
      const shown = traffic.since(wholeNumber(query, 'after') ?? 0)
      refuseLong(shown.size, 'Use `after` to show what follows an entry.')
      return plainText(shown.diagram({ format: oneOf(query, 'format', ['text', 'mermaid']) }))
    },
  },
  order({
    method: 'DELETE',
    path: '/traffic',
    summary: 'Deletes all entries; numbering continues.',
    body: nothing,
    run: ({ traffic }) => traffic.clear(),
  }),
]

/** Rejects a timeline with too many entries, because formatting each entry takes time. */
function refuseLong(entries: number, instead: string): void {
  if (entries <= maxItems) return
  throw new HttpError(
    400,
    `There are ${entries} entries, and one response shows at most ${maxItems} of them. ${instead}`,
  )
}

/**
 * Returns a trace as JSON, created in slices. The trace contains the entries and store changes that existed when the
 * request arrived.
 */
async function traced(traffic: Traffic, query: URLSearchParams): Promise<RawResponse> {
  const [bodies = Number.POSITIVE_INFINITY, after = 0, limit] = ['bodies', 'after', 'limit'].map((name) =>
    wholeNumber(query, name),
  )
  const redaction = traffic.redaction(query.getAll('redact').flatMap((list) => list.split(',')))
  const entries = traffic.since(after).entries.slice(0, limit)
  const last = limit === undefined ? undefined : entries.at(-1)?.seq
  const left = changesOfAll(traffic.context, redaction, after)
  const changes = last === undefined ? left : left.filter(({ seq }) => seq <= last)
  // Always return at least one entry. Otherwise a very large entry could never be read.
  if (entries.length > 1) {
    const size = changes.reduce((sum, change) => sum + weightOf(change), sizeOfEntries(entries, bodies))
    const instead = 'Request parts with `limit` and `after`, or shorten the bodies with `bodies`.'
    refuseLarge(size, maxInSlices, 'The trace', instead)
  }
  const facts = JSON.stringify(traceOf([], traffic.context, redaction))
  const writer = entryWriter(redaction, bodies)
  const told = await inSlices(entries, sizeOfEntry, (entry) => utf8(JSON.stringify(writer.entry(entry))))
  const ofKeys = await inSlices(changes, weightOf, (change) => utf8(JSON.stringify(redactedChange(change, redaction))))
  const end = ofKeys.length === 0 ? ']}' : `],"changes":[${ofKeys.join(',')}]}`
  // The encoded entries are inserted at the end, because the list of entries is the last field of a trace.
  return jsonText(latin1(`${utf8(facts.slice(0, -2))}${told.join(',')}${end}`))
}

export const maxWait = 60_000

/** Returns a filter for the query parameters `type`, `after` and `message`. */
function wantedBy(query: URLSearchParams): (entry: Entry) => boolean {
  const types = query.getAll('type').flatMap((list) => list.split(','))
  const unknown = types.find((type) => !Object.hasOwn(entryTypes, type))
  if (unknown !== undefined) {
    const names = Object.keys(entryTypes).join(', ')
    throw new HttpError(400, `There is no entry type ${JSON.stringify(unknown)}. Use ${names}.`)
  }
  const after = wholeNumber(query, 'after') ?? 0
  const message = query.get('message')
  return (entry) =>
    entry.seq > after &&
    (types.length === 0 || types.includes(entry.type)) &&
    (message === null || ('messageId' in entry && entry.messageId === message))
}

/**
 * Returns the entries of the requested message, or all entries. For a message, this function uses an index, because a
 * search in a long log would be slow.
 */
function source({ traffic }: Sandbox, query: URLSearchParams): readonly Entry[] {
  const message = query.get('message')
  return message === null ? traffic.entries : traffic.forMessage(message)
}

function longPoll(sandbox: Sandbox, asked: OperationContext): unknown {
  const { query, call } = asked
  const wanted = wantedBy(query)
  const find = (): readonly Entry[] => source(sandbox, query).filter(wanted)
  const given = query.get('wait')
  if (given !== null && parseDuration(given) === undefined)
    throw new HttpError(400, 'wait must be a duration such as 10s.')
  const found = find()
  if (found.length > 0 || given === null) return told(sandbox, found, asked)
  return new Promise<readonly Entry[]>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      for (const forget of forgets) forget()
      resolve(find())
    }
    const timer = setTimeout(end, Math.min(milliseconds(given as Duration), maxWait))
    // Wait for one more iteration of the event loop, so that the response includes all entries of one request.
    const forgets = [
      sandbox.traffic.subscribe((entry) => {
        if (wanted(entry)) setImmediate(end)
      }),
      // Stop waiting after a reset or load, because the former sandbox gets no more entries.
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

/** Returns the `seq` of the last entry to skip. For a message, this is the number before its first entry. */
function firstOf({ traffic }: Sandbox, query: URLSearchParams): number {
  const after = wholeNumber(query, 'after') ?? 0
  const message = query.get('message')
  const [first] = message === null ? [] : traffic.forMessage(message)
  return Math.max(after, first === undefined ? 0 : first.seq - 1)
}

function oneOf<const T extends string>(query: URLSearchParams, name: string, values: readonly [T, ...T[]]): T {
  const given = query.get(name) ?? values[0]
  const found = values.find((value) => value === given)
  if (found === undefined) throw new HttpError(400, `${name} must be ${values.join(' or ')}.`)
  return found
}

function plainText(text: string): RawResponse {
  return { status: 200, headers: [['content-type', 'text/plain; charset=utf-8']], body: utf8(text) }
}
