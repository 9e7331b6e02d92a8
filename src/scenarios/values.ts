import * as v from 'valibot'
import { CronExpression } from '../kernel/cron.js'
import { type Duration, milliseconds, parseDuration } from '../kernel/duration.js'
import { instant } from '../kernel/instant.js'
import { parseRetryExpression } from '../queue/settings/retry-expression.js'

// The words that scenarios are made of: what steps, destinations and initial states share.

/** A text or a number, as a word of a command. */
export type ScenarioArgument = string | number

export type ScenarioHeaders = Readonly<Record<string, string>>

/** Options of a message, as `queue.publish()` has them. */
export interface MessageOptions {
  readonly method?: string
  readonly timeout?: string
  readonly retries?: number
  readonly retryDelay?: string
  readonly delay?: string
  readonly notBefore?: string | number
  readonly deduplicationId?: string
  readonly contentBasedDeduplication?: boolean
  readonly callback?: string
  readonly callbackHeaders?: ScenarioHeaders
  readonly callbackMethod?: string
  readonly callbackRetries?: number
  readonly callbackRetryDelay?: string
  readonly callbackTimeout?: string
  readonly callbackDelay?: string
  readonly failureCallback?: string
  readonly failureCallbackHeaders?: ScenarioHeaders
  readonly failureCallbackMethod?: string
  readonly failureCallbackRetries?: number
  readonly failureCallbackRetryDelay?: string
  readonly failureCallbackTimeout?: string
  readonly failureCallbackDelay?: string
  readonly flowControlKey?: string
  readonly flowControlValue?: string
  readonly label?: string | readonly string[]
  readonly redactFields?: string
}

/** What a message carries. */
export interface MessageContent {
  /** A string, or a value that becomes JSON. */
  readonly body?: unknown
  /** A body that is not text. */
  readonly bodyBase64?: string
  /** Delivered as they are. */
  readonly headers?: ScenarioHeaders
}

export const text: v.GenericSchema<unknown, string> = v.string()
export const name: v.GenericSchema<unknown, string> = v.pipe(v.string(), v.minLength(1, 'It is empty: give a name'))
export const count: v.GenericSchema<unknown, number> = v.pipe(
  v.number(),
  v.integer('It is not a whole number'),
  v.minValue(0, 'It is below 0'),
)
export const positive: v.GenericSchema<unknown, number> = v.pipe(
  v.number(),
  v.integer('It is not a whole number'),
  v.minValue(1, 'It is below 1'),
)
export const yes: v.GenericSchema<unknown, true> = v.literal(true)
/** Any JSON. */
export const json: v.GenericSchema<unknown, unknown> = v.unknown()

/** `'90s'`, `'1d10h30m'`, or milliseconds. */
export const duration: v.GenericSchema<unknown, Duration> = v.union([
  v.pipe(
    v.string(),
    v.regex(
      /^(?:\d+(?:\.\d+)?(?:ms|mo|[smhdwy]))+$/,
      'It is not a span of time: write 90s, 5m, 1d10h30m, or milliseconds as a number',
    ),
  ),
  v.pipe(v.number(), v.minValue(0, 'A span of time is not below 0')),
]) as v.GenericSchema<unknown, Duration>

/** A check of a duration; a text that is none has its own problem already. */
export function fitsSpan(fits: (span: number) => boolean): (given: Duration) => boolean {
  return (given) => {
    const span = typeof given === 'number' ? given : parseDuration(given)
    return span === undefined || fits(span)
  }
}

/** The period of a rate: whole seconds, at least one. */
export const ratePeriod: v.GenericSchema<unknown, Duration> = v.pipe(
  duration,
  v.check(
    fitsSpan((span) => span >= 1000 && span % 1000 === 0),
    'It is not whole seconds: write 10s, 1m, or milliseconds as a number',
  ),
)

/** A period as the engine has it. */
export function secondsOf(period: Duration | undefined): number | undefined {
  return period === undefined ? undefined : milliseconds(period) / 1000
}

const isoPattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** `'2030-01-01T09:00:00Z'`, or milliseconds since 1970. */
export const scenarioInstant: v.GenericSchema<unknown, string | number> = v.union([
  v.pipe(v.string(), v.regex(isoPattern, 'It is not a time: write 2030-01-01T09:00:00Z')),
  v.pipe(v.number(), v.minValue(0, 'A time is not before 1970')),
])

export const scenarioArgv: v.GenericSchema<unknown, readonly ScenarioArgument[]> = v.pipe(
  v.array(v.union([v.string(), v.number()])),
  v.minLength(1, 'It is empty: give the words of a command, such as [SET, stock, 3]'),
)
export const headers: v.GenericSchema<unknown, ScenarioHeaders> = v.record(v.string(), v.string())
export const url: v.GenericSchema<unknown, string> = v.pipe(
  v.string(),
  v.regex(/^https?:\/\//, 'It is not a url: begin with https:// or http://'),
)

/** The same with a method in front where it matters: `POST https://bank.test/charges`. */
export const outboundUrl: v.GenericSchema<unknown, string> = v.pipe(
  v.string(),
  v.regex(
    /^(?:[A-Za-z]+ +)?https?:\/\//,
    'It is not a url: begin with https:// or http://, with a method in front or without',
  ),
)

/** A text that another parser must accept; its error is reported. */
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
  (text) => new CronExpression(text),
  'It is not a cron pattern of five fields',
)
const retryDelay = readableBy(parseRetryExpression, 'It is not an expression of milliseconds')

const method = v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const span = v.pipe(
  v.string(),
  v.regex(/^(?:\d+(?:\.\d+)?(?:mo|[smhdwy]))+$/, 'It is not a duration of the queue: write 30s, 5m or 1d10h30m'),
)

/** The fields behind `callback` and `failureCallback`, under the names of one of them. */
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

/** Every field of `MessageContent` and `MessageOptions`. */
export const messageEntries: Readonly<Record<string, v.GenericSchema>> = {
  body: v.exactOptional(v.pipe(v.unknown(), v.description('A string, or a value that becomes JSON.'))),
  bodyBase64: v.exactOptional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'It is not base64'),
      v.description('A body that is not text.'),
    ),
  ),
  headers: v.exactOptional(v.pipe(headers, v.description('Delivered as they are.'))),
  method: v.exactOptional(method),
  timeout: v.exactOptional(span),
  retries: v.exactOptional(v.pipe(count, v.description('Retries after the first attempt.'))),
  retryDelay: v.exactOptional(
    v.pipe(retryDelay, v.description('Milliseconds, as an expression: pow(2, retried) * 1000.')),
  ),
  delay: v.exactOptional(v.pipe(span, v.description('Wait before the first attempt.'))),
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

/** The options of a message as the queue reads them: names without prefix, in lower case. */
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

/** The wire has seconds; fractions are kept. */
function wireSeconds(at: string | number): string {
  return String(instant(at) / 1000)
}
