import { utf8 } from '../../kernel/bytes.js'
import { type HeaderList, isHeader } from '../../kernel/http.js'
import type { ResolvedPolicy } from '../../policy/policy.js'
import { deliveryHeaders, isHopByHop } from '../settings/forwarded-headers.js'
import {
  type CallbackSettings,
  type FlowControlSettings,
  type HeaderValue,
  joined,
  type PublishSettings,
  type RawSettings,
} from '../settings/message-settings.js'
import { type Gathering, invalid, publishOptions, type ReadContext } from '../settings/publish-options.js'
import type { QueueDialect } from '../settings/queue-dialect.js'
import { refusals } from '../settings/queue-rejections.js'

const optionsByName = new Map(publishOptions.map((option) => [option.name, option]))

export interface PublishHeaders {
  readonly contentType?: string | undefined
  /** All headers of the request. The option `Header-Forward` forwards them. */
  readonly incoming?: HeaderList
  /** Default headers of a URL group. Headers of the request take precedence. */
  readonly beneath?: HeaderList
  /**
   * Whether the `Authorization` header is meant for the destination. This is the case if the request sent its queue
   * token in another way.
   */
  readonly ownAuthorization?: boolean
}

/**
 * Parses the options of a publish, or the options of one of its callbacks.
 * @param base settings that are used where an option is absent
 * @throws QueueRejection 400 or 412 with the name of the invalid option
 */
export function readSettings(
  raw: RawSettings,
  context: ReadContext,
  given: PublishHeaders = {},
  base: PublishSettings = defaultSettings(context.policy, context.words),
  prefix = '',
): PublishSettings {
  const settings = { ...base, words: context.words }
  const gathering: Gathering = {
    context,
    prefix,
    headerForward: false,
    callbackUrl: settings.callback?.url,
    failureCallbackUrl: settings.failureCallback?.url,
    flowControlKey: settings.flowControl?.key,
    flowControlLimits: undefined,
  }
  const forward: HeaderList[] = []
  let callback: Map<string, HeaderValue> | undefined
  let failureCallback: Map<string, HeaderValue> | undefined
  for (const [name, given] of raw) {
    const option = optionsByName.get(name)
    const value = joined(given)
    if (option !== undefined) {
      if (prefix === '' || option.callbacks) option.read(value.trim(), settings, gathering)
    } else if (name.startsWith('forward-'))
      forward.push([given].flat().map((one) => forwarded(name.slice(8), one, gathering)))
    else if (name.startsWith('callback-')) {
      callback ??= new Map()
      callback.set(name.slice(9), given)
    } else if (name.startsWith('failure-callback-')) {
      failureCallback ??= new Map()
      failureCallback.set(name.slice(17), given)
    } else if (name.startsWith('workflow-') || name === 'feature-set') {
      const kept = settings.workflow === undefined ? new Map<string, string>() : new Map(settings.workflow)
      settings.workflow = kept.set(name, value)
    }
  }
  settings.headers = readHeaders(given, base.headers, forward, gathering)
  settings.flowControl = readFlow(gathering, settings.flowControl)
  const reader: CallbackReader = { context, retries: settings.retries }
  settings.callback = readCallback(reader, gathering.callbackUrl, callback, base.callback, `${prefix}callback-`)
  settings.failureCallback = readCallback(
    reader,
    gathering.failureCallbackUrl,
    failureCallback,
    base.failureCallback,
    `${prefix}failure-callback-`,
  )
  return settings
}

export function defaultSettings(policy: ResolvedPolicy, words: QueueDialect): PublishSettings {
  return {
    words,
    method: 'POST',
    headers: [],
    timeout: undefined,
    retries: policy.retries,
    retryDelay: undefined,
    delay: 0,
    notBefore: undefined,
    deduplicationId: undefined,
    contentBasedDeduplication: false,
    callback: undefined,
    failureCallback: undefined,
    flowControl: undefined,
    labels: undefined,
    redact: undefined,
    cron: undefined,
    scheduleId: undefined,
    queue: undefined,
    workflow: undefined,
  }
}

/** Checks a forwarded header. Returns its name and its value, with one character per byte. */
function forwarded(name: string, value: string, gathering: Gathering): [string, string] {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    throw invalid(gathering, `forward-${name}`, 'the name is not a valid header name')
  return [name, headerValue(value, () => invalid(gathering, `forward-${name}`, 'the value has a line break'))]
}

/** Converts a header value to bytes, with one character per byte. The value comes from a header or from JSON. */
function headerValue(value: string, broken: () => Error): string {
  if (/[\0\r\n]/.test(value)) throw broken()
  return /[^\0-\xff]/.test(value) ? utf8(value) : value
}

/**
 * Converts the values of a URL group's default headers to bytes.
 * @throws QueueRejection when a name or value cannot be sent over HTTP
 */
export function plainHeaders(headers: HeaderList): HeaderList {
  return headers.map(([name, value]) => {
    const invalid = (): Error =>
      refusals.invalid('headers', `${JSON.stringify(name)} has a name or value that HTTP cannot carry`)
    const bytes = headerValue(value, invalid)
    if (!isHeader(name, bytes)) throw invalid()
    return [name, bytes]
  })
}

function readHeaders(
  given: PublishHeaders,
  before: HeaderList,
  forward: readonly HeaderList[],
  { headerForward, context }: Gathering,
): HeaderList {
  const contentType =
    given.contentType &&
    headerValue(given.contentType, () => refusals.invalid('Content-Type', 'the value has a line break'))
  const passed = headerForward ? [given.beneath ?? [], passedHeaders(given, context.words)] : []
  return deliveryHeaders(contentType, [before, ...passed, ...forward], context.words)
}

/** Returns the headers of the request that are forwarded because of `Header-Forward: true`. [queue.md 2.3] */
function passedHeaders({ incoming = [], ownAuthorization = false }: PublishHeaders, words: QueueDialect): HeaderList {
  return incoming.filter(([name]) => {
    const lower = name.toLowerCase()
    return (lower !== 'authorization' || ownAuthorization) && !isHopByHop(lower) && words.ownName(lower) === undefined
  })
}

function readFlow(gathering: Gathering, before: FlowControlSettings | undefined): FlowControlSettings | undefined {
  const { flowControlKey: key, flowControlLimits: limits } = gathering
  if (key === undefined) {
    if (limits !== undefined) throw invalid(gathering, 'flow-control-value', 'a flow-control key is required')
    return undefined
  }
  return { key, limits: limits ?? (before?.key === key ? before.limits : undefined) }
}

interface CallbackReader {
  readonly context: ReadContext
  readonly retries: number
}

function readCallback(
  { context, retries }: CallbackReader,
  url: string | undefined,
  raw: RawSettings | undefined,
  before: CallbackSettings | undefined,
  prefix: string,
): CallbackSettings | undefined {
  if (url === undefined && raw === undefined) return undefined
  // [queue.md 3.2]
  const headers: HeaderList = [['Content-Type', 'application/json']]
  const base = before?.settings ?? { ...defaultSettings(context.policy, context.words), retries, headers }
  // Parse the options of a callback even if there is no callback URL, so that invalid options are always rejected.
  const settings = raw === undefined ? base : readSettings(raw, context, {}, base, prefix)
  return url === undefined ? undefined : { url, settings }
}
