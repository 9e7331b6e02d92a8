import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import { bytesOf, type PortableString, portableString } from '../../kernel/portable.js'
import { defaultPolicy } from '../../policy/policy.js'
import { defaultSettings, type PublishHeaders } from '../publish/publish.js'
import { publishOptions } from '../settings/options.js'
import type { CallbackSettings, PublishSettings } from '../settings/settings.js'
import { Words } from '../settings/words.js'

/** Options by the names of their headers, without prefix and lower case, as texts. */
export type PortableSettings = Readonly<Record<string, string>>

/** What is delivered by configuration: Content-Type and forwarded headers. */
export type PortableHeaders = Readonly<Record<string, PortableString>>

/** A message that says nothing. The number of retries is always written: what it is by default is a choice of the policy. */
const silent = { ...defaultSettings(defaultPolicy, new Words('none', [])), retries: -1 }

/** The options that read as these settings. */
export function portableSettings(settings: PublishSettings): PortableSettings {
  return Object.fromEntries(written(settings, silent, '', settings.workflow ?? []))
}

function* written(
  settings: PublishSettings,
  base: PublishSettings,
  prefix: string,
  more: Iterable<readonly [string, string]>,
): Generator<[string, string]> {
  for (const option of publishOptions) {
    if (prefix !== '' && !option.callbacks) continue
    const text = option.write(settings)
    if (text !== undefined && text !== option.write(base)) yield [prefix + option.name, text]
  }
  for (const [name, text] of more) yield [prefix + name, text]
  yield* ofCallback(settings.callback, settings.retries, `${prefix}callback-`)
  yield* ofCallback(settings.failureCallback, settings.retries, `${prefix}failure-callback-`)
}

/** A callback has the retries of its message unless it says something else, and a content type of its own. */
function* ofCallback(
  callback: CallbackSettings | undefined,
  retries: number,
  prefix: string,
): Generator<[string, string]> {
  if (callback === undefined) return
  const { headers, workflow } = callback.settings
  const forwarded = headers
    .filter(([name, value]) => name !== 'Content-Type' || value !== 'application/json')
    .map(([name, value]) => [`forward-${name.toLowerCase()}`, value] as const)
  yield* written(callback.settings, { ...silent, retries }, prefix, [...(workflow ?? []), ...forwarded])
}

/** How a dump calls the words of whoever published: `undefined` for all, as where none are told. */
export function portableWords({ words }: PublishSettings): string | undefined {
  return words.name === 'both' ? undefined : words.name
}

export function portableHeaders(headers: HeaderList): PortableHeaders {
  return Object.fromEntries(headers.map(([name, value]) => [name, portableString(value as Bytes)]))
}

/** Options and headers as a publish reads them. */
export function readable(
  settings: PortableSettings,
  headers: PortableHeaders,
): { readonly raw: Map<string, string>; readonly given: PublishHeaders } {
  const raw = new Map(Object.entries(settings))
  let contentType: string | undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'content-type') contentType = bytesOf(value)
    else raw.set(`forward-${name}`, bytesOf(value))
  }
  return { raw, given: { contentType } }
}
