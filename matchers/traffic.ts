import type { Entry, EntryOf, ServiceName } from '../src/kernel/traffic.js'
import { describeEntry } from '../src/report/describe.js'
import { address, body, type Field, headers, plain } from './fields.js'
import { argumentList } from './literal.js'
import { checkPattern, compareFields } from './near-misses.js'
import type { Or, Text } from './patterns.js'
import { type Evidence, entriesOf, evidenceOf } from './received.js'
import { type MatchOptions, search, type Verdict } from './verdict.js'

/** Fields of an HTTP request to one of the services; all that are given must fit. */
export interface RequestPattern {
  readonly service?: Or<ServiceName>
  readonly method?: Text
  /** As it arrived; `*` stands for any chars. */
  readonly url?: Text
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  /** Status of the answer; 0 when the connection was broken. */
  readonly status?: Or<number>
  /** Body of the answer. */
  readonly response?: unknown
}

export const requestFieldNames: readonly string[] = [
  'method',
  'url',
  'body',
  'headers',
  'status',
  'response',
  'service',
]

/** HTTP requests that arrived, answered or not. */
export function receivedRequest(received: unknown, pattern: RequestPattern = {}, options: MatchOptions = {}): Verdict {
  const matcher = 'toHaveReceivedRequest'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkPattern(matcher, pattern, requestFieldNames)
  const { role } = evidence
  const own = entriesOf(evidence, 'request').filter(
    (entry) => role === 'sandbox' || role === 'traffic' || entry.service === role,
  )
  const given = Object.keys(pattern).length === 0 && options.times === undefined ? [] : [pattern]
  return search({
    matcher,
    call: argumentList(options.times === undefined ? given : [...given, options]),
    evidence,
    candidates: own.map((entry) => ({
      seq: entry.seq,
      at: entry.at,
      title: () => headOf(entry, evidence),
      compared: compareFields(requestFields(entry), { ...pattern }, ['method', 'url', 'status', 'service']),
    })),
    times: options.times,
    noun: ['request', 'requests'],
  })
}

export function requestFields(entry: EntryOf<'request'>): Record<string, Field> {
  return {
    service: plain(entry.service),
    method: plain(entry.method),
    url: address(entry.url),
    headers: headers(() => entry.headers),
    body: body(entry.body),
    status: plain(entry.answer?.status),
    response: body(entry.answer?.body),
  }
}

export function headOf(entry: Entry, evidence: Evidence): string {
  return describeEntry(entry, { bodies: 0, name: (id) => evidence.name(id) }).head
}
