import fc from 'fast-check'
import { type Duration, type DurationText, milliseconds } from '../../../../src/kernel/duration.js'
import { type Instant, instant, iso } from '../../../../src/kernel/instant.js'
import { checkOptionNames, didYouMean } from '../../../../src/kernel/nearest-name.js'
import { defaultStart } from '../../../../src/sandbox/sandbox.js'

/** A message that `queue.publish()` and the scenario step `publish` accept. */
export type GeneratedMessage = {
  /** URL, or name of a URL group. */
  readonly to: string
  /** String, or value that becomes JSON. */
  readonly body?: unknown
  /** Headers that are delivered unchanged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Name of the FIFO queue. */
  readonly queue?: string
  /** HTTP method of the delivery: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly method?: string
  /** Maximum time for the destination to respond: `'30s'`. Default: the maximum of the plan. */
  readonly timeout?: DurationText
  /** Maximum number of retries after the first attempt. Default 3, which the policy `retries` can change. */
  readonly retries?: number
  /**
   * Expression for the delay before each retry in milliseconds: `1000 * (1 + retried)`. Default: exponential backoff.
   */
  readonly retryDelay?: string
  /** Delay before the first attempt: `'10m'`. Default: none. */
  readonly delay?: DurationText
  /** Earliest instant of delivery, as ISO text. It overrides `delay`. */
  readonly notBefore?: string
  /** ID by which duplicates are recognized for 10 minutes, without `:`. Default: none. */
  readonly deduplicationId?: string
  /** Whether a message with the same destination, headers and body is a duplicate. Default false. */
  readonly contentBasedDeduplication?: boolean
  /** URL that receives a message about every attempt. Default: none. */
  readonly callback?: string
  /** HTTP method of the callback: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly callbackMethod?: string
  /** Maximum number of retries of the callback. Default: `retries` of the message. */
  readonly callbackRetries?: number
  /** Expression for the delay before each retry of the callback, in milliseconds. Default: exponential backoff. */
  readonly callbackRetryDelay?: string
  /** Maximum time for the callback URL to respond: `'30s'`. Default: the maximum of the plan. */
  readonly callbackTimeout?: DurationText
  /** Delay before the first attempt of the callback: `'10m'`. Default: none. */
  readonly callbackDelay?: DurationText
  /** URL that receives one message when the delivery has failed permanently. Default: none. */
  readonly failureCallback?: string
  /** HTTP method of the failure callback: GET, POST, PUT, PATCH or DELETE. Default POST. */
  readonly failureCallbackMethod?: string
  /** Maximum number of retries of the failure callback. Default: `retries` of the message. */
  readonly failureCallbackRetries?: number
  /**
   * Expression for the delay before each retry of the failure callback, in milliseconds. Default: exponential backoff.
   */
  readonly failureCallbackRetryDelay?: string
  /** Maximum time for the failure callback URL to respond: `'30s'`. Default: the maximum of the plan. */
  readonly failureCallbackTimeout?: DurationText
  /** Delay before the first attempt of the failure callback: `'10m'`. Default: none. */
  readonly failureCallbackDelay?: DurationText
  /** Flow-control key whose limits apply to the message. Default: none. */
  readonly flowControlKey?: string
  /** New limits of the flow-control key: `parallelism=2, rate=10, period=1m`. Default: limits unchanged. */
  readonly flowControlValue?: string
  /** Labels by which the message can be found, separated by commas. Default: none. */
  readonly label?: string
  /**
   * Parts that API responses do not show, separated by commas: `body`, `header`, `header[Authorization]`. Default:
   * none.
   */
  readonly redactFields?: string
}

/** A schedule that the scenario step `schedule` accepts. */
export type GeneratedSchedule = Omit<GeneratedMessage, 'notBefore'> & {
  /** ID of the schedule. */
  readonly id: string
  /** Cron expression of five fields. A time zone can precede the fields. */
  readonly cron: string
}

/** Options of `arb.message()` and `arb.schedule()`, which generate messages and schedules. */
export interface MessageArbitraryOptions {
  /** URLs or names of URL groups. Default: three routes of `https://shop.test`. */
  readonly to?: readonly string[]
  /** Names of the options that generated messages can have. Default: all options. */
  readonly only?: readonly (keyof GeneratedMessage)[]
  /** Virtual time near which generated values of `notBefore` are. Default `2030-01-01T00:00:00Z`. */
  readonly now?: Instant
}

const shop = ['https://shop.test/orders', 'https://shop.test/payments', 'https://shop.test/emails']
const spans = fc.constantFrom('1s', '12s', '90s', '5m', '1h30m', '1d')
const methods = fc.constantFrom('POST', 'GET', 'PUT', 'PATCH', 'DELETE')
const retries = fc.nat({ max: 5 })
const retryDelays = fc.constantFrom(
  '1000',
  '0',
  'pow(2, retried) * 1000',
  'max(100, 50 * retried)',
  'retried % 2 * 60000',
)
const reports = fc.constantFrom('https://shop.test/done', 'https://shop.test/failed')
const reportOptions = { Method: methods, Retries: retries, RetryDelay: retryDelays, Timeout: spans, Delay: spans }

function callbackModel(name: 'callback' | 'failureCallback'): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries([
    [name, reports],
    ...Object.entries(reportOptions).map(([option, arbitrary]) => [name + option, arbitrary] as const),
  ])
}

/** Returns an arbitrary for each option of a message. */
function messageModel({
  to = shop,
  now = defaultStart,
}: MessageArbitraryOptions): Record<string, fc.Arbitrary<unknown>> {
  const start = Math.floor(instant(now) / 1000)
  return {
    to: fc.constantFrom(...to),
    body: fc.oneof(
      fc.record({ id: fc.nat({ max: 99 }) }),
      fc.constantFrom('tea', '', 'ünïcödé', '{"a":[1,2]}'),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => [...bytes]),
    ),
    headers: fc.dictionary(
      fc.constantFrom('x-tenant', 'authorization', 'content-type'),
      fc.constantFrom('a', 'text/plain', 'b; c'),
    ),
    queue: fc.constantFrom('line', 'other'),
    method: methods,
    timeout: spans,
    retries,
    retryDelay: retryDelays,
    delay: spans,
    notBefore: fc.integer({ min: -3600, max: 7200 }).map((seconds) => iso((start + seconds) * 1000)),
    deduplicationId: fc.constantFrom('a', 'b'),
    contentBasedDeduplication: fc.boolean(),
    ...callbackModel('callback'),
    ...callbackModel('failureCallback'),
    flowControlKey: fc.constantFrom('slow', 'fast'),
    flowControlValue: fc.constantFrom('parallelism=1', 'rate=2, period=30s', 'parallelism=2, rate=5, period=1m'),
    label: fc.constantFrom('red', 'green', 'red,green'),
    redactFields: fc.constantFrom('body', 'header', 'body, header[authorization]'),
  }
}

/**
 * Generates messages with any options. Failures shrink to a message without options.
 * @example
 * fc.assert(
 *   fc.property(arb.message(), (message) => {
 *     sandbox.queue.publish(message)
 *   }),
 * )
 */
export function message(options: MessageArbitraryOptions = {}): fc.Arbitrary<GeneratedMessage> {
  checkOptionNames('arb.message()', options, { to: true, only: true, now: true })
  return fc
    .record(chosen(messageModel(options), options, ['to']), { requiredKeys: ['to'] })
    .map((message) => whole(message) as GeneratedMessage)
}

/**
 * Generates schedules with any of the options of a message.
 * @example fc.assert(fc.property(arb.schedule({ only: ['delay'] }), ({ id, cron }) => id !== '' && cron !== ''))
 */
export function schedule(options: MessageArbitraryOptions = {}): fc.Arbitrary<GeneratedSchedule> {
  checkOptionNames('arb.schedule()', options, { to: true, only: true, now: true })
  const { notBefore: _, ...model } = messageModel(options)
  return fc
    .record(
      { id: fc.constantFrom('nightly', 'hourly', 'weekly'), cron: cron(), ...chosen(model, options, ['to']) },
      { requiredKeys: ['id', 'cron', 'to'] as never[] },
    )
    .map((schedule) => whole(schedule) as GeneratedSchedule)
}

function chosen(
  model: Record<string, fc.Arbitrary<unknown>>,
  { only }: MessageArbitraryOptions,
  always: readonly string[],
): Record<string, fc.Arbitrary<unknown>> {
  if (only === undefined) return model
  const unknown = only.find((name) => !Object.hasOwn(model, name))
  if (unknown !== undefined) {
    throw new TypeError(
      `There is no option ${JSON.stringify(unknown)}.${didYouMean(unknown, Object.keys(model))} Use one of ${Object.keys(model).join(', ')}.`,
    )
  }
  return Object.fromEntries(
    Object.entries(model).filter(([name]) => always.includes(name) || (only as readonly string[]).includes(name)),
  )
}

/** Removes options that have no effect: limits without a flow-control key, and callback options without a callback. */
function whole(message: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(message).filter(([name]) => {
      if (name === 'flowControlValue') return 'flowControlKey' in message
      const callback = /^(callback|failureCallback)[A-Z]/.exec(name)?.[1]
      return callback === undefined || callback in message
    }),
  )
}

/**
 * Generates cron expressions of five fields, some with a time zone. Failures shrink to an expression that fires every
 * minute.
 * @example fc.assert(fc.property(arb.cron(), (cron) => cron.split(' ').length >= 5))
 */
export function cron(): fc.Arbitrary<string> {
  const field = (min: number, max: number): fc.Arbitrary<string> => {
    const number = fc.integer({ min, max })
    return fc.oneof(
      { withCrossShrink: true },
      { weight: 4, arbitrary: fc.constant('*') },
      { weight: 3, arbitrary: number.map(String) },
      { weight: 1, arbitrary: fc.integer({ min: 2, max: Math.min(15, max) }).map((step) => `*/${step}`) },
      { weight: 1, arbitrary: fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`) },
    )
  }
  const zone = fc.constantFrom('', '', '', 'CRON_TZ=Europe/Berlin ', 'CRON_TZ=America/New_York ')
  return fc
    .tuple(zone, field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map(([inZone, ...fields]) => inZone + fields.join(' '))
}

/**
 * Generates moves of time, as in the scenario step `advance`. The unit is milliseconds, and the maximum is `maxLength`,
 * by default one day.
 * @example
 * await fc.assert(
 *   fc.asyncProperty(arb.clockMove({ maxLength: '1h' }), async ({ advance }) => {
 *     await sandbox.clock.advance(advance)
 *   }),
 * )
 */
export function clockMove(options: { readonly maxLength?: Duration } = {}): fc.Arbitrary<{ readonly advance: number }> {
  checkOptionNames('arb.clockMove()', options, { maxLength: true })
  const longest = milliseconds(options.maxLength ?? '1d')
  const usual = [1000, 12_000, 60_000, 300_000, 3_600_000].filter((span) => span <= longest)
  return fc
    .oneof(fc.nat({ max: longest }), ...(usual.length > 0 ? [fc.constantFrom(...usual)] : []))
    .map((advance) => ({ advance }))
}
