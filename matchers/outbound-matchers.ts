import type { Outbound } from '../src/calls/outbound.js'
import type { EntryOf } from '../src/kernel/traffic-log.js'
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
} from './pattern-fields.js'
import type { Or, Text } from './patterns.js'
import { evidenceOf, type Perhaps } from './received.js'
import { headOf } from './requests.js'
import { callOf, type MatchOptions, search, timesOf, type Verdict } from './verdict.js'

/** Fields of an outbound request of the app. All fields in the pattern must match. */
export interface OutboundPattern {
  /** HTTP method of the request, in upper case. */
  readonly method?: Text
  /** URL that the app requested. `*` matches any characters. */
  readonly url?: Text
  /** Headers that the app sent. The credentials in `authorization` are replaced by `***`. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  /**
   * Body: a string is compared with its text, a `Uint8Array` with its bytes, and an object or list with its JSON.
   * Fields that the pattern omits are ignored.
   */
  readonly body?: unknown
  /** Status that the app received; 0 without a response. */
  readonly status?: Or<number>
  /** Body of the response that the app received. */
  readonly response?: unknown
  /** Error that the app received instead of a response. */
  readonly error?: Text | undefined
  /**
   * Number of times that the handler ran: 0 if a fault ended the request before the handler, 2 if a fault repeated the
   * request.
   */
  readonly handlerRuns?: Or<number>
}

export const callFields: FieldsOf<OutboundPattern, EntryOf<'outbound'>> = {
  method: methodField((entry) => entry.method),
  url: urlField((entry) => entry.url),
  body: bodyField((entry) => entry.body),
  headers: headersField((entry) => entry.headers),
  status: numberField((entry) => entry.response?.status),
  response: optional(bodyField((entry) => entry.response?.body)),
  error: optional(textField((entry) => entry.response?.error)),
  handlerRuns: numberField((entry) => entry.handlerRuns),
}

/** Searches outbound requests to hosts that are registered with `sandbox.outbound`. */
export function called(received: unknown, given: string | OutboundPattern = {}, options?: MatchOptions): Verdict {
  const matcher = 'toHaveOutboundRequest'
  const evidence = evidenceOf(matcher, received, 'sandbox')
  const pattern = typeof given === 'string' || given instanceof URL ? patternOf(String(given)) : given
  checkPattern(matcher, pattern, callFields)
  return search({
    matcher,
    call: callOf(pattern, options),
    evidence,
    things: () => evidence.ofType('outbound'),
    test: testOf(callFields, { ...pattern }),
    candidate: (entry) => ({ seq: entry.seq, at: entry.at, title: headOf(entry, evidence) }),
    times: timesOf(matcher, options),
    noun: ['outbound request', 'outbound requests'],
    hints: () => elsewhere(received, pattern.url).map((sentence) => evidence.redaction.text(sentence)),
  })
}

/** Parses `POST https://bank.test/charges`, or a URL alone. */
function patternOf(text: string): OutboundPattern {
  const [, method, to = text] = /^([A-Za-z]+)\s+(.*)$/.exec(text) ?? []
  return { url: to, ...(method !== undefined && { method: method.toUpperCase() }) }
}

/** Returns hints about requests that did not reach the sandbox. */
function elsewhere(received: unknown, to: unknown): readonly string[] {
  const { outbound } = received as { outbound?: Perhaps<Outbound, 'unhandled' | 'patterns'> }
  const unhandled = Array.isArray(outbound?.unhandled) ? (outbound.unhandled as string[]) : []
  const patterns = Array.isArray(outbound?.patterns) ? (outbound.patterns as string[]) : undefined
  if (unhandled.length > 0) return unhandled.slice(0, 3)
  if (patterns === undefined || patterns.length > 0) return []
  const url = typeof to === 'string' ? to : 'https://bank.test/*'
  return [
    `No URL is registered, and only requests to registered URLs are recorded. Call sandbox.outbound.on('${url}', handler).`,
  ]
}
