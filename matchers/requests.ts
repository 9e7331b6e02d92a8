import type { Entry, EntryOf, ServiceName } from '../src/kernel/traffic-log.js'
import { describeEntry } from '../src/report/describe.js'
import { standardRedaction } from '../src/report/redaction.js'
import { testOf } from './near-misses.js'
import {
  bodyField,
  checkPattern,
  type FieldsOf,
  headersField,
  methodField,
  numberField,
  optional,
  textField,
  urlField,
  wordField,
} from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf, type MatcherInput } from './received.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Fields of an HTTP request to one of the services. All fields in the pattern must match. */
export interface RequestPattern {
  /** Service that received the request: `store`, `queue` or `stats`. */
  readonly service?: Or<ServiceName>
  /** HTTP method of the request, in upper case. */
  readonly method?: Text
  /** URL of the request. `*` matches any characters. */
  readonly url?: Text
  /** Headers of the request. The credentials in `authorization` are replaced by `***`. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  /**
   * Body: a string is compared with its text, a `Uint8Array` with its bytes, and an object or list with its JSON.
   * Fields that the pattern omits are ignored.
   */
  readonly body?: unknown
  /** Status of the response. 0 if the connection broke before a response. */
  readonly status?: Or<number>
  /** Body of the response. */
  readonly response?: unknown
  /** Name of the added database that received the request; `undefined` for the first one. */
  readonly database?: Text | undefined
}

export const requestFields: FieldsOf<RequestPattern, EntryOf<'request'>> = {
  method: methodField((entry) => entry.method),
  url: {
    ...urlField((entry: EntryOf<'request'>) => entry.url),
    isSecret: (entry: EntryOf<'request'>) =>
      entry.service === 'store' && standardRedaction.storeUrl(entry.url) !== standardRedaction.text(entry.url),
  },
  body: {
    ...bodyField((entry: EntryOf<'request'>) => entry.body),
    isSecret: (entry: EntryOf<'request'>) => standardRedaction.request(entry).fields?.body === true,
  },
  headers: headersField((entry) => entry.headers),
  status: numberField((entry) => entry.response?.status),
  response: {
    ...optional(bodyField((entry: EntryOf<'request'>) => entry.response?.body)),
    isSecret: (entry: EntryOf<'request'>) => standardRedaction.request(entry).answer?.body === true,
  },
  service: wordField(['store', 'queue', 'stats'], (entry) => entry.service),
  database: optional(textField((entry) => entry.database)),
}

/** Searches HTTP requests to the services. A request without a response can match, too. */
export function receivedRequest(received: unknown, pattern: RequestPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveReceivedRequest'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  checkPattern(matcher, pattern, requestFields)
  const { role } = evidence
  const isOwn = (entry: EntryOf<'request'>): boolean => (role !== 'store' && role !== 'queue') || entry.service === role
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => evidence.ofType('request').filter(isOwn),
    test: testOf(requestFields, { ...pattern }),
    candidate: (entry) => ({ seq: entry.seq, at: entry.at, title: headOf(entry, evidence) }),
    times: timesOf(matcher, options),
    noun: ['request', 'requests'],
  })
}

export function headOf(entry: Entry, evidence: MatcherInput): string {
  return describeEntry(entry, { bodies: 0, name: (id) => evidence.name(id), redaction: evidence.redaction }).head
}
