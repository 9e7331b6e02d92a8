import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { defaultPolicy } from '../../policy/policy.js'
import { defaultSettings, type PublishHeaders } from '../publish/publish.js'
import type { CallbackSettings, HeaderValue, PublishSettings } from '../settings/message-settings.js'
import { publishOptions } from '../settings/publish-options.js'
import { QueueDialect } from '../settings/queue-dialect.js'

/**
 * Options of a publish as text. The keys are header names in lower case, without prefix. Forwarded headers may have a
 * list of values.
 */
export type PortableSettings = Readonly<Record<string, HeaderValue>>

/**
 * Headers that the publisher set for the delivery: Content-Type and forwarded headers. A header that occurs several
 * times has a list of values.
 */
export type PortableHeaders = Readonly<Record<string, PortableString | readonly PortableString[]>>

/**
 * Settings of a message that was published without options. A dump contains only settings that differ from these.
 * `retries` is always in the dump, because its default depends on a policy.
 */
const silent = { ...defaultSettings(defaultPolicy, new QueueDialect('none', [])), retries: -1 }

/** Returns the options with which a publish would have these settings. */
export function portableSettings(settings: PublishSettings): PortableSettings {
  return Object.fromEntries(written(settings, silent, '', settings.workflow ?? []))
}

function* written(
  settings: PublishSettings,
  base: PublishSettings,
  prefix: string,
  more: Iterable<readonly [string, HeaderValue]>,
): Generator<[string, HeaderValue]> {
  for (const option of publishOptions) {
    if (prefix !== '' && !option.callbacks) continue
    const text = option.write(settings)
    if (text !== undefined && text !== option.write(base)) yield [prefix + option.name, text]
  }
  for (const [name, text] of more) yield [prefix + name, text]
  yield* ofCallback(settings.callback, settings.retries, `${prefix}callback-`)
  yield* ofCallback(settings.failureCallback, settings.retries, `${prefix}failure-callback-`)
}

/**
 * Yields the options of a callback that differ from the defaults of callbacks. By default, a callback has the retries
 * of its message, and JSON as its Content-Type.
 */
function* ofCallback(
  callback: CallbackSettings | undefined,
  retries: number,
  prefix: string,
): Generator<[string, HeaderValue]> {
  if (callback === undefined) return
  const { headers, workflow } = callback.settings
  const forwarded = listed(
    headers.filter(([name, value]) => name !== 'Content-Type' || value !== 'application/json'),
  ).map(([name, values]) => [`forward-${name.toLowerCase()}`, values] as const)
  yield* written(callback.settings, { ...silent, retries }, prefix, [...(workflow ?? []), ...forwarded])
}

/**
 * Returns the name of the publisher's dialect for a dump. Returns `undefined` if the publisher used no dialect, so that
 * deliveries have the headers of all dialects.
 */
export function portableDialect({ words }: PublishSettings): string | undefined {
  return words.name === 'both' ? undefined : words.name
}

export function portableHeaders(headers: HeaderList): PortableHeaders {
  const portable = (value: string): PortableString => portableString(value as Bytes)
  return Object.fromEntries(
    listed(headers).map(([name, given]) => [name, typeof given === 'string' ? portable(given) : given.map(portable)]),
  )
}

export function headerList(headers: PortableHeaders): HeaderList {
  return Object.entries(headers).flatMap(([name, given]) =>
    [given].flat().map((value) => [name, bytesOf(value)] as const),
  )
}

/** Returns each header name with its value, or with a list of values if the name occurs several times. */
function listed(headers: HeaderList): [name: string, given: HeaderValue][] {
  const names = new Map<string, HeaderValue>()
  for (const [name, value] of headers) {
    const before = names.get(name)
    names.set(name, before === undefined ? value : [before, value].flat())
  }
  return [...names]
}

/** Converts settings and headers of a dump to the input that parses the options of a publish. */
export function readable(
  settings: PortableSettings,
  headers: PortableHeaders,
): { readonly raw: Map<string, HeaderValue>; readonly given: PublishHeaders } {
  const raw = new Map<string, HeaderValue>(Object.entries(settings))
  let contentType: string | undefined
  for (const [name, value] of Object.entries(headers)) {
    const values = [value].flat().map(bytesOf)
    if (name.toLowerCase() === 'content-type') contentType = values[0]
    else raw.set(`forward-${name}`, values.length === 1 ? values[0]! : values)
  }
  return { raw, given: { contentType } }
}
