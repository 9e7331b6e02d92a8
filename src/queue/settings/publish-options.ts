import { parseDuration } from '../../kernel/duration.js'
import { canonicalName } from '../../kernel/http.js'
import type { ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import type { FlowControlLimits, PublishSettings } from './message-settings.js'
import type { QueueDialect } from './queue-dialect.js'
import { refusals } from './queue-rejections.js'
import { parseRedaction, writeRedaction } from './redacted-fields.js'
import { deepestExpression, maxExpression, parseRetryExpression, retryFunctions } from './retry-expression.js'
import { checkName, checkUrl } from './url.js'

export interface ReadContext {
  readonly words: QueueDialect
  readonly policy: ResolvedPolicy
  readonly limits: ResolvedQueueLimits
}

/**
 * Values that are collected while the options of a publish are read. Some settings depend on several options, so these
 * settings are created at the end.
 */
export interface Gathering {
  readonly context: ReadContext
  /** Prefix of the option names in error texts: `callback-`, `failure-callback-`, or empty. */
  readonly prefix: string
  headerForward: boolean
  callbackUrl: string | undefined
  failureCallbackUrl: string | undefined
  flowControlKey: string | undefined
  flowControlLimits: FlowControlLimits | undefined
}

/** Maximum number of retries that the service accepts on any plan. [queue.md, last section] */
export const maxRetries = 999_999

/** One option of a publish. Its header name, query name, default and documentation are derived from this object. */
export interface PublishOption {
  /** Header name in lower case, without prefix. In a query, the name has the prefix of the dialect. */
  readonly name: string
  readonly grammar: string
  readonly default: string
  readonly bounds?: string
  /** Whether callbacks have this option, too: with the prefix `Callback-` or `Failure-Callback-`. */
  readonly callbacks: boolean
  /** `schedule`: the option is read only when a schedule is created. */
  readonly on?: 'schedule'
  readonly about: string
  read(text: string, into: PublishSettings, gathering: Gathering): void
  /**
   * Returns the option as text, read from the settings of a message. Returns `undefined` if the message does not have
   * this option.
   */
  write(settings: PublishSettings): string | undefined
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Table of publish options. [queue.md 2.2] */
export const publishOptions: readonly PublishOption[] = [
  {
    name: 'method',
    grammar: methods.join(', '),
    default: 'POST',
    callbacks: true,
    about: 'Method of the delivery. GET is delivered without a body.',
    read(text, into, gathering) {
      const method = text.toUpperCase()
      if (!methods.includes(method))
        throw invalid(gathering, 'method', `${JSON.stringify(text)} is not one of ${methods.join(', ')}`)
      into.method = method
    },
    write: ({ method }) => method,
  },
  {
    name: 'timeout',
    grammar: 'duration `<n>s|m|h|d|w|mo|y`, also combined; a bare number is seconds',
    default: "the plan's maximum response time",
    bounds: 'can only shorten the default',
    callbacks: true,
    about: 'Maximum time for the destination to respond.',
    read(text, into, gathering) {
      const timeout = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : parseServiceDuration(text)
      if (timeout === undefined || timeout <= 0)
        throw invalid(gathering, 'timeout', `${JSON.stringify(text)} is not a duration`)
      into.timeout = timeout
    },
    write: ({ timeout }) => (timeout === undefined ? undefined : String(timeout / 1000)),
  },
  {
    name: 'retries',
    grammar: 'integer ≥ 0',
    default: '3; for a callback, the retries of its message',
    bounds: "at most the plan's maximum if quotas are enforced; never more than 999,999",
    callbacks: true,
    about: 'Number of retries after the first attempt.',
    read(text, into, gathering) {
      if (!/^\d+$/.test(text))
        throw invalid(gathering, 'retries', `${JSON.stringify(text)} is not a non-negative integer`)
      const { policy, limits } = gathering.context
      const retries = Number(text)
      const most = policy.enforceQuotas ? Math.min(limits.maxRetries, maxRetries) : maxRetries
      if (retries > most) throw refusals.quota('maxRetries', most, policy.quotaStatus)
      into.retries = retries
    },
    write: ({ retries }) => String(retries),
  },
  {
    name: 'retry-delay',
    grammar: `expression of numbers, \`retried\`, \`+ - * / %\`, parentheses and ${Object.keys(retryFunctions).join(', ')}`,
    default: 'min(86400, e^(2.5·n)) whole seconds before retry n',
    bounds: `result in milliseconds, at most a day; a negative result counts as 0; if the result is not a number, the default is used. At most ${maxExpression} characters and ${deepestExpression} levels of nesting, which are limits of this package`,
    callbacks: true,
    about: 'Delay before each retry; `retried` is 0 for the first.',
    read(text, into, gathering) {
      try {
        into.retryDelay = parseRetryExpression(text)
      } catch (error) {
        throw invalid(gathering, 'retry-delay', (error as Error).message)
      }
    },
    write: ({ retryDelay }) => retryDelay?.text,
  },
  {
    name: 'delay',
    grammar: 'duration `<n>s|m|h|d|w|mo|y`, also combined: `1d10h30m`',
    default: '0s',
    bounds: "at most the plan's maximum if quotas are enforced",
    callbacks: true,
    about: 'Delay before the first attempt.',
    read(text, into, gathering) {
      const delay = parseServiceDuration(text)
      if (delay === undefined) throw invalid(gathering, 'delay', `${JSON.stringify(text)} is not a duration`)
      const { policy, limits } = gathering.context
      if (gathering.prefix !== '' && policy.rejectCallbackDelay)
        throw invalid(gathering, 'delay', 'callbacks cannot be delayed')
      if (policy.enforceQuotas && limits.maxDelay !== undefined && delay > limits.maxDelay) {
        throw refusals.quota('maxDelay', limits.maxDelay / 1000, policy.quotaStatus)
      }
      into.delay = delay
    },
    write: ({ delay }) => `${delay / 1000}s`,
  },
  {
    name: 'not-before',
    grammar: 'Unix time in seconds',
    default: 'none',
    bounds: 'overrides the delay; a past time means immediately',
    callbacks: true,
    about: 'Earliest time of the first attempt.',
    read(text, into, gathering) {
      if (!/^\d{1,12}(?:\.\d+)?$/.test(text))
        throw invalid(gathering, 'not-before', `${JSON.stringify(text)} is not a Unix time in seconds`)
      into.notBefore = Math.round(Number(text) * 1000)
    },
    write: ({ notBefore }) => (notBefore === undefined ? undefined : String(notBefore / 1000)),
  },
  {
    name: 'deduplication-id',
    grammar: 'text without `:`',
    default: 'none',
    bounds: 'recognizes duplicates for 10 minutes',
    callbacks: false,
    about: 'A second message with the same ID gets a 202 response and is not enqueued.',
    read(text, into) {
      if (text.includes(':')) throw refusals.deduplicationColon()
      if (text !== '') into.deduplicationId = text
    },
    write: ({ deduplicationId }) => deduplicationId,
  },
  {
    name: 'content-based-deduplication',
    grammar: '`true` or `false`, any case',
    default: 'false',
    callbacks: false,
    about: 'A message with the same destination, body, Content-Type and forwarded headers counts as a duplicate.',
    read(text, into, gathering) {
      into.contentBasedDeduplication = readBoolean(text, gathering, 'content-based-deduplication')
    },
    write: ({ contentBasedDeduplication }) => String(contentBasedDeduplication),
  },
  {
    name: 'header-forward',
    grammar: '`true` or `false`, any case',
    default: 'false',
    callbacks: false,
    about: 'Forwards all headers of the publish request, without a prefix.',
    read(text, _into, gathering) {
      gathering.headerForward = readBoolean(text, gathering, 'header-forward')
    },
    write: () => undefined,
  },
  {
    name: 'callback',
    grammar: 'absolute HTTP(S) URL',
    default: 'none',
    callbacks: true,
    about: 'URL that receives a message about every attempt.',
    read(text, _into, gathering) {
      checkUrl(text, `${gathering.prefix.replaceAll('-', ' ')}callback`)
      gathering.callbackUrl = text
    },
    write: ({ callback }) => callback?.url,
  },
  {
    name: 'failure-callback',
    grammar: 'absolute HTTP(S) URL',
    default: 'none',
    callbacks: true,
    about: 'URL that receives one message if the delivery fails permanently.',
    read(text, _into, gathering) {
      checkUrl(text, `${gathering.prefix.replaceAll('-', ' ')}failure callback`)
      gathering.failureCallbackUrl = text
    },
    write: ({ failureCallback }) => failureCallback?.url,
  },
  {
    name: 'flow-control-key',
    grammar: 'text without white space',
    default: 'none',
    callbacks: true,
    about: 'Counts the message against the limits of this key.',
    read(text, _into, gathering) {
      if (!/^[\x21-\x7e]+$/.test(text))
        throw invalid(gathering, 'flow-control-key', `${JSON.stringify(text)} is not a key`)
      gathering.flowControlKey = text
    },
    write: ({ flowControl }) => flowControl?.key,
  },
  {
    name: 'flow-control-value',
    grammar: '`parallelism=<n>, rate=<n>, period=<seconds or duration>`, any order',
    default: 'the current limits of the key',
    bounds: 'at least one of parallelism and rate; period 1 s by default, at most a week',
    callbacks: true,
    about: 'New limits of the key, until a later message sets other limits.',
    read(text, _into, gathering) {
      gathering.flowControlLimits = readFlowControl(text, gathering)
    },
    write: ({ flowControl }) => flowControl?.limits && writeFlowControl(flowControl.limits),
  },
  {
    name: 'label',
    grammar: 'one label, or several with commas',
    default: 'none',
    callbacks: true,
    about: 'Labels by which a search can find the message.',
    read(text, into) {
      const labels = commaList(text)
      into.labels = labels.length === 0 ? undefined : labels
    },
    write: ({ labels }) => labels?.join(','),
  },
  {
    name: 'redact-fields',
    grammar: 'comma list of `body`, `header`, `header[<Name>]`',
    default: 'none',
    callbacks: true,
    about: 'Every API response shows these parts as `REDACTED:<SHA256>`. Deliveries contain them in clear text.',
    read(text, into, gathering) {
      const redact = parseRedaction(text)
      if (redact === undefined)
        throw invalid(gathering, 'redact-fields', `${JSON.stringify(text)} contains an unknown field`)
      into.redact = redact
    },
    write: ({ redact }) => redact && writeRedaction(redact),
  },
  {
    name: 'cron',
    grammar: 'five cron fields, optionally after `CRON_TZ=<zone> `',
    default: 'none',
    callbacks: false,
    on: 'schedule',
    about: 'Fire times of a schedule. A publish with this option creates a schedule.',
    read(text, into) {
      into.cron = text.trim()
    },
    write: ({ cron }) => cron,
  },
  {
    name: 'schedule-id',
    grammar: 'letters, digits, `-`, `_`, `.`',
    default: 'generated by the service',
    callbacks: false,
    on: 'schedule',
    about: 'ID of the schedule; an existing one is replaced.',
    read(text, into, gathering) {
      checkName(text, headerName(gathering, 'schedule-id'))
      into.scheduleId = text
    },
    write: ({ scheduleId }) => scheduleId,
  },
  {
    name: 'queue-name',
    grammar: 'letters, digits, `-`, `_`, `.`',
    default: 'none',
    callbacks: false,
    on: 'schedule',
    about: 'FIFO queue into which a schedule publishes.',
    read(text, into, gathering) {
      checkName(text, headerName(gathering, 'queue-name'))
      into.queue = text
    },
    write: ({ queue }) => queue,
  },
]

/** Groups of options with a variable part in their name, such as `forward-<name>`. [queue.md 2.2] */
export const openSettings: readonly { readonly name: string; readonly about: string }[] = [
  { name: 'forward-<name>', about: 'Delivered as header `<Name>`.' },
  {
    name: 'callback-<option>',
    about: 'Sets this option for the callback. `callback-forward-<name>` becomes a header of the callback.',
  },
  { name: 'failure-callback-<option>', about: 'Sets this option for the failure callback.' },
  { name: 'telemetry-<name>', about: 'Accepted and dropped.' },
  {
    name: 'workflow-<name>',
    about:
      'Headers of the workflow protocol, like `Service-Feature-Set`. The queue keeps them for the workflow engine.',
  },
]

function readBoolean(text: string, gathering: Gathering, name: string): boolean {
  if (/^true$/i.test(text)) return true
  if (/^false$/i.test(text) || text === '') return false
  throw invalid(gathering, name, `${JSON.stringify(text)} is neither true nor false`)
}

function readFlowControl(text: string, gathering: Gathering): FlowControlLimits {
  const fail = (reason: string): Error => invalid(gathering, 'flow-control-value', reason)
  const found = new Map<string, string>()
  for (const part of commaList(text)) {
    const [, name, value] = /^(\w+)\s*=\s*(\S+)$/.exec(part) ?? []
    if (name === undefined || !['parallelism', 'rate', 'period'].includes(name))
      throw fail(`${JSON.stringify(part)} is not known`)
    found.set(name, value!)
  }
  const positive = (name: string): number | undefined => {
    const value = found.get(name)
    if (value === undefined) return undefined
    if (!/^[1-9]\d{0,9}$/.test(value)) throw fail(`${name} must be a positive integer`)
    return Number(value)
  }
  const [parallelism, rate] = [positive('parallelism'), positive('rate')]
  if (parallelism === undefined && rate === undefined) throw fail('parallelism or rate is required')
  return { parallelism, rate, period: readPeriod(found.get('period'), gathering.context.policy, fail) }
}

function writeFlowControl({ parallelism, rate, period }: FlowControlLimits): string {
  const parts = Object.entries({ parallelism, rate, period: period === 1 ? undefined : period })
  return parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])).join(', ')
}

/**
 * Parses a duration in the format of the service, such as `90s` or `1d10h30m`. Returns milliseconds, or `undefined` for
 * other texts. [queue.md 2.2]
 */
export function parseServiceDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:mo|[smhdwy]))+$/.test(text)) return undefined
  const span = Math.round(parseDuration(text)!)
  // Reject longer durations, because they exceed the range of a Date.
  return span <= 1e15 ? span : undefined
}

/** Parses a rate period, which is a number of seconds or a duration. Returns seconds. */
export function readPeriod(text: string | undefined, policy: ResolvedPolicy, fail: (reason: string) => Error): number {
  if (text === undefined) return 1
  const duration = parseServiceDuration(text)
  const period = /^\d+$/.test(text) ? Number(text) : duration === undefined ? Number.NaN : duration / 1000
  if (!(period >= 1)) throw fail('period must be a number of seconds or a duration, at least 1s')
  const longest = policy.maxRatePeriod / 1000
  if (period > longest) throw fail(`period must be at most ${longest}s`)
  return Math.floor(period)
}

export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

export function invalid(gathering: Gathering, name: string, reason: string): Error {
  return refusals.invalid(headerName(gathering, name), reason)
}

function headerName({ context, prefix }: Gathering, name: string): string {
  return context.words.header(canonicalName(prefix + name))
}
