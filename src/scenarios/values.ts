import * as v from 'valibot'
import { parseCron } from '../kernel/cron.js'
import { type Duration, milliseconds, parseDuration } from '../kernel/duration.js'
import { instant } from '../kernel/instant.js'
import { parseRetryExpression } from '../queue/settings/retry-expression.js'

// Schemas and types for values that occur in steps, destinations and the initial state of a scenario.

/** Argument of a command: a string or a number. */
export type ScenarioArgument = string | number

export type ScenarioHeaders = Readonly<Record<string, string>>

/** Options of a message, as for `queue.publish()`. */
export interface MessageOptions {
  /** HTTP method of the delivery: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly method?: string
  /** Maximum time for the destination to respond: `'30s'`. Default: the maximum of the plan. */
  readonly timeout?: string
  /** Maximum number of retries after the first attempt. Default 3, which the policy `retries` can change. */
  readonly retries?: number
  /**
   * Expression for the delay before each retry in milliseconds: `1000 * (1 + retried)`. Default: exponential backoff.
   */
  readonly retryDelay?: string
  /** Delay before the first attempt: `'10m'`. Default: none. */
  readonly delay?: string
  /** Earliest instant of delivery: ISO text or milliseconds since the epoch. If set, `delay` is ignored. */
  readonly notBefore?: string | number
  /** ID by which duplicates are recognized for 10 minutes. It must not contain `:`. Default: none. */
  readonly deduplicationId?: string
  /** Whether a message with the same destination, headers and body is a duplicate. Default false. */
  readonly contentBasedDeduplication?: boolean
  /** URL that receives a message about every attempt. Default: none. */
  readonly callback?: string
  /** Headers that are delivered to the callback URL unchanged. Default: none. */
  readonly callbackHeaders?: ScenarioHeaders
  /** HTTP method of the callback: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly callbackMethod?: string
  /** Maximum number of retries of the callback. Default: `retries` of the message. */
  readonly callbackRetries?: number
  /** Expression for the delay before each retry of the callback, in milliseconds. Default: exponential backoff. */
  readonly callbackRetryDelay?: string
  /** Maximum time for the callback URL to respond: `'30s'`. Default: the maximum of the plan. */
  readonly callbackTimeout?: string
  /** Delay before the first attempt of the callback: `'10m'`. Default: none. */
  readonly callbackDelay?: string
  /** URL that receives one message when the delivery has failed permanently. Default: none. */
  readonly failureCallback?: string
  /** Headers that are delivered to the failure callback URL unchanged. Default: none. */
  readonly failureCallbackHeaders?: ScenarioHeaders
  /** HTTP method of the failure callback: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly failureCallbackMethod?: string
  /** Maximum number of retries of the failure callback. Default: `retries` of the message. */
  readonly failureCallbackRetries?: number
  /**
   * Expression for the delay before each retry of the failure callback, in milliseconds. Default: exponential backoff.
   */
  readonly failureCallbackRetryDelay?: string
  /** Maximum time for the failure callback URL to respond: `'30s'`. Default: the maximum of the plan. */
  readonly failureCallbackTimeout?: string
  /** Delay before the first attempt of the failure callback: `'10m'`. Default: none. */
  readonly failureCallbackDelay?: string
  /** Flow-control key whose limits apply to the message. Default: none. */
  readonly flowControlKey?: string
  /** New limits for the flow-control key: `parallelism=2, rate=10, period=1m`. Default: its limits stay unchanged. */
  readonly flowControlValue?: string
  /** Label of the message, or a list of labels. A search can find the message by its labels. Default: none. */
  readonly label?: string | readonly string[]
  /**
   * Parts of the message that API responses redact, separated by commas: `body`, `header`, `header[Authorization]`.
   * Default: none.
   */
  readonly redactFields?: string
}

/** Body and headers of a message. */
export interface MessageContent {
  /** String, or value that becomes JSON. */
  readonly body?: unknown
  /** Body in base64, for bytes that are not text. */
  readonly bodyBase64?: string
  /** Headers that are delivered unchanged. */
  readonly headers?: ScenarioHeaders
}

export const text: v.GenericSchema<unknown, string> = v.string()
export const name: v.GenericSchema<unknown, string> = v.pipe(v.string(), v.minLength(1, 'must not be empty'))
export const count: v.GenericSchema<unknown, number> = v.pipe(
  v.number(),
  v.integer('must be a whole number'),
  v.minValue(0, 'must be at least 0'),
)
export const positive: v.GenericSchema<unknown, number> = v.pipe(
  v.number(),
  v.integer('must be a whole number'),
  v.minValue(1, 'must be at least 1'),
)
export const yes: v.GenericSchema<unknown, true> = v.literal(true)
/** Any JSON value. */
export const json: v.GenericSchema<unknown, unknown> = v.unknown()

/** Duration: `'90s'`, `'1d10h30m'`, or milliseconds. */
export const duration: v.GenericSchema<unknown, Duration> = v.union([
  v.pipe(
    v.string(),
    v.regex(
      /^(?:\d+(?:\.\d+)?(?:ms|mo|[smhdwy]))+$/,
      'must be a duration such as 90s, 5m or 1d10h30m, or a number of milliseconds',
    ),
  ),
  v.pipe(v.number(), v.minValue(0, 'must be at least 0')),
]) as v.GenericSchema<unknown, Duration>

/**
 * Returns a check of the length of a duration. A text that is not a duration passes, because another check reports it.
 */
export function fitsSpan(fits: (span: number) => boolean): (given: Duration) => boolean {
  return (given) => {
    const span = typeof given === 'number' ? given : parseDuration(given)
    return span === undefined || fits(span)
  }
}

/** Period of a rate: whole seconds, at least one second. */
export const ratePeriod: v.GenericSchema<unknown, Duration> = v.pipe(
  duration,
  v.check(
    fitsSpan((span) => span >= 1000 && span % 1000 === 0),
    'must be a duration of whole seconds, such as 10s, 1m or 5000 (milliseconds)',
  ),
)

/** Returns a rate period in seconds, the unit that the queue uses. */
export function secondsOf(period: Duration | undefined): number | undefined {
  return period === undefined ? undefined : milliseconds(period) / 1000
}

const isoPattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Instant: `'2030-01-01T09:00:00Z'`, or milliseconds since 1970. */
export const scenarioInstant: v.GenericSchema<unknown, string | number> = v.union([
  v.pipe(v.string(), v.regex(isoPattern, 'must be a time such as 2030-01-01T09:00:00Z')),
  v.pipe(v.number(), v.minValue(0, 'must not be before 1970')),
])

export const scenarioArgv: v.GenericSchema<unknown, readonly ScenarioArgument[]> = v.pipe(
  v.array(v.union([v.string(), v.number()])),
  v.minLength(1, 'must contain the arguments of a command, such as [SET, stock, 3]'),
)
export const headers: v.GenericSchema<unknown, ScenarioHeaders> = v.record(v.string(), v.string())
export const url: v.GenericSchema<unknown, string> = v.pipe(
  v.string(),
  v.regex(/^https?:\/\//, 'must be a URL that begins with https:// or http://'),
)

/** URL. A method may precede it: `POST https://bank.test/charges`. */
export const outboundUrl: v.GenericSchema<unknown, string> = v.pipe(
  v.string(),
  v.regex(
    /^(?:[A-Za-z]+ +)?https?:\/\//,
    'must be a URL that begins with https:// or http://, such as https://bank.test/* or POST https://bank.test/charges',
  ),
)

/**
 * Returns a schema for strings that `parse()` accepts. If `parse()` throws an error, the problem contains the text of
 * the error.
 */
function readableBy(read: (text: string) => unknown, otherwise: string): v.GenericSchema<unknown, string> {
  return v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      try {
        read(dataset.value)
      } catch (error) {
        addIssue({ message: `${otherwise}: ${(error as Error).message}` })
      }
    }),
  )
}

export const cron: v.GenericSchema<unknown, string> = readableBy(
  (text) => parseCron(text),
  'must be a cron pattern of five fields',
)
const retryDelay = readableBy(
  parseRetryExpression,
  'must be an expression for a delay in milliseconds, such as 1000 * retried',
)

const method = v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const span = v.pipe(
  v.string(),
  v.regex(/^(?:\d+(?:\.\d+)?(?:mo|[smhdwy]))+$/, 'must be a duration of the queue, such as 30s, 5m or 1d10h30m'),
)

/**
 * Returns the options of a callback. The names of the options begin with the prefix `callback` or `failureCallback`.
 */
function callbackOptions(prefix: 'callback' | 'failureCallback'): Record<string, v.GenericSchema> {
  return {
    [prefix]: v.exactOptional(url),
    [`${prefix}Headers`]: v.exactOptional(headers),
    [`${prefix}Method`]: v.exactOptional(method),
    [`${prefix}Retries`]: v.exactOptional(count),
    [`${prefix}RetryDelay`]: v.exactOptional(retryDelay),
    [`${prefix}Timeout`]: v.exactOptional(span),
    [`${prefix}Delay`]: v.exactOptional(span),
  }
}

/** Schemas of all fields of `MessageContent` and `MessageOptions`. */
export const messageEntries: Readonly<Record<string, v.GenericSchema>> = {
  body: v.exactOptional(v.pipe(v.unknown(), v.description('String, or value that becomes JSON.'))),
  bodyBase64: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64'),
      v.description('Body in base64, for bytes that are not text.'),
    ),
  ),
  headers: v.exactOptional(v.pipe(headers, v.description('Headers that are delivered unchanged.'))),
  method: v.exactOptional(method),
  timeout: v.exactOptional(span),
  retries: v.exactOptional(v.pipe(count, v.description('Number of retries after the first attempt.'))),
  retryDelay: v.exactOptional(
    v.pipe(
      retryDelay,
      v.description('Delay before a retry in milliseconds, as an expression: pow(2, retried) * 1000.'),
    ),
  ),
  delay: v.exactOptional(v.pipe(span, v.description('Delay before the first attempt.'))),
  notBefore: v.exactOptional(
    v.pipe(scenarioInstant, v.description('Earliest time of the first attempt; as a number: milliseconds since 1970.')),
  ),
  deduplicationId: v.exactOptional(text),
  contentBasedDeduplication: v.exactOptional(v.boolean()),
  ...callbackOptions('callback'),
  ...callbackOptions('failureCallback'),
  flowControlKey: v.exactOptional(text),
  flowControlValue: v.exactOptional(v.pipe(v.string(), v.description('parallelism=2, rate=10, period=1m'))),
  label: v.exactOptional(v.union([v.string(), v.array(v.string())])),
  redactFields: v.exactOptional(text),
}

/** Returns the options of a message. The keys are header names in lower case, without prefix. */
export function settingsOf(options: MessageOptions): Map<string, string> {
  const settings = new Map<string, string>()
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue
    const setting = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    if (setting.endsWith('-headers')) {
      const prefix = setting.slice(0, -'headers'.length)
      for (const [header, text] of Object.entries(value as ScenarioHeaders))
        settings.set(`${prefix}forward-${header}`, text)
    } else if (key === 'notBefore') settings.set(setting, wireSeconds(value as string | number))
    else settings.set(setting, Array.isArray(value) ? value.join(',') : String(value))
  }
  return settings
}

/** Returns an instant in seconds since the epoch, with decimals. Headers contain instants in seconds. */
function wireSeconds(at: string | number): string {
  return String(instant(at) / 1000)
}
