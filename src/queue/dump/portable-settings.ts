import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { defaultPolicy } from '../../policy/policy.js'
import { defaultSettings, type PublishHeaders } from '../publish/publish.js'
import type { CallbackSettings, HeaderValue, PublishSettings } from '../settings/message-settings.js'
import { publishOptions } from '../settings/publish-options.js'
import { QueueDialect } from '../settings/queue-dialect.js'

/**
 * Options of a publish as text, by header name in lower case and without prefix. Forwarded headers may have a list of
 * values.
 */
export type PortableSettings = Readonly<Record<string, HeaderValue>>

/**
 * Headers of the delivery that the publisher set: Content-Type and forwarded headers. The value is a list if a name
 * occurs several times.
 */
export type PortableHeaders = Readonly<Record<string, PortableString | readonly PortableString[]>>

/**
 * Settings of a message without options; only settings that differ are written to a dump. `retries` always differs,
 * because its default depends on a policy.
 */
const silent = { ...defaultSettings(defaultPolicy, new QueueDialect('none', [])), retries: -1 }

/** Returns the options of a publish with these settings. */
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
 * Yields the options of a callback that differ from its defaults: the retries of its message, and JSON as its
 * Content-Type.
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
 * Returns the name of the publisher's dialect for a dump; `undefined` if deliveries use all spellings, because the
 * publisher used none.
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

/** Returns each header name once, with all its values. */
function listed(headers: HeaderList): [name: string, given: HeaderValue][] {
  const names = new Map<string, HeaderValue>()
  for (const [name, value] of headers) {
    const before = names.get(name)
    names.set(name, before === undefined ? value : [before, value].flat())
  }
  return [...names]
}

/** Converts options and headers to the form that a publish reads. */
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
