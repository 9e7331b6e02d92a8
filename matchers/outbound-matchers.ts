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

/** Fields of a call that the app made to another host; all that are given must fit. */
export interface OutboundPattern {
  readonly method?: Text
  /** As it arrived; `*` stands for any characters. */
  readonly url?: Text
  /** As they arrived; the credentials of `authorization` are `***`. */
  readonly headers?: Or<Readonly<Record<string, Text | number | undefined>>>
  readonly body?: unknown
  /** Status that the app saw; 0 when no answer came. */
  readonly status?: Or<number>
  /** Body of the answer that the app saw. */
  readonly response?: unknown
  /** Why no answer came, as the app was told. */
  readonly error?: Text | undefined
  /** How often the host did its work: 0 where a fault came before it, 2 where one repeated the call. */
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

/** Calls to the hosts that `sandbox.outbound` has registered. */
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
    noun: ['call', 'calls'],
    hints: () => elsewhere(received, pattern.url).map((sentence) => evidence.redaction.text(sentence)),
  })
}

/** `POST https://bank.test/charges`, or the url alone. */
function patternOf(text: string): OutboundPattern {
  const [, method, to = text] = /^([A-Za-z]+)\s+(.*)$/.exec(text) ?? []
  return { url: to, ...(method !== undefined && { method: method.toUpperCase() }) }
}

/** What never reached the sandbox, and why. */
function elsewhere(received: unknown, to: unknown): readonly string[] {
  const { outbound } = received as { outbound?: Perhaps<Outbound, 'unhandled' | 'patterns'> }
  const unhandled = Array.isArray(outbound?.unhandled) ? (outbound.unhandled as string[]) : []
  const patterns = Array.isArray(outbound?.patterns) ? (outbound.patterns as string[]) : undefined
  if (unhandled.length > 0) return unhandled.slice(0, 3)
  if (patterns === undefined || patterns.length > 0) return []
  const url = typeof to === 'string' ? to : 'https://bank.test/*'
  return [
    `Nothing is registered: only calls to what sandbox.outbound knows are seen. Register sandbox.outbound.on('${url}', handler).`,
  ]
}
