import { AddressPattern, wildcard } from '../../../../src/kernel/address-pattern.js'
import { latin1 } from '../../../../src/kernel/bytes.js'
import { portableString } from '../../../../src/kernel/portable.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { DeliveryRun } from './delivery-run.js'

/** Effects of a run that other systems can see. */
export interface Effects {
  /** Keys of the data store with their contents. */
  readonly store: ReadonlyMap<string, string>
  /** Published messages and outbound requests, sorted, because their order is not compared. */
  readonly outgoing: readonly string[]
}

/** Options that exclude effects from the comparison. */
export interface EffectOptions {
  /** Keys of the data store that are not compared, as patterns: `seen:*`. */
  readonly ignoreKeys?: readonly string[]
  /** URL patterns of messages and outbound requests that are not compared. */
  readonly ignoreOutbound?: readonly string[]
}

interface RunEffectOptions extends EffectOptions {
  /** Whether messages that were published outside of deliveries are effects. Default true. */
  readonly given?: boolean
}

interface StoreEffectOptions extends Pick<EffectOptions, 'ignoreKeys'> {
  /** Whether the IDs of stream entries are compared. Default true. */
  readonly streamIds?: boolean
}

export function effectsOf(
  { sandbox, calls, given }: Pick<DeliveryRun, 'sandbox' | 'calls' | 'given'>,
  options: RunEffectOptions = {},
): Effects {
  const silent = (options.ignoreOutbound ?? []).map((pattern) => new AddressPattern(pattern))
  const heard = (url: string): boolean => !silent.some((pattern) => pattern.matches(url))
  const published = sandbox.traffic
    .ofType('published')
    .filter(({ kind, deduplicated, url }) => kind === 'message' && !deduplicated && heard(url))
    .filter(({ seq }) => options.given !== false || !given.has(seq))
    .map(({ method, url, body }) => `${method} ${url} ${JSON.stringify(portableString(latin1(body)))}`)
  const keyed = new Set<string>()
  const called = calls
    .filter(({ url }) => heard(url))
    .flatMap(({ method, url, body, idempotencyKey }) => {
      const call = `${method} ${url} ${JSON.stringify(body)}`
      // Requests with the same idempotency key are one effect.
      if (idempotencyKey === undefined) return [call]
      const name = `${call} (${idempotencyKey})`
      return keyed.has(name) ? [] : [keyed.add(name) && name]
    })
  return { store: storeEffects(sandbox, options), outgoing: [...published, ...called].sort() }
}

/**
 * Returns the values in the data store by key, without their expirations. Keys of added databases have the name of their
 * database.
 */
export function storeEffects(
  { stores, options }: Sandbox,
  { ignoreKeys = [], streamIds = true }: StoreEffectOptions,
): ReadonlyMap<string, string> {
  const ignored = ignoreKeys.map((pattern) => wildcard(pattern))
  const held = new Map<string, string>()
  for (const [index, store] of stores.entries()) {
    const place = index === 0 ? '' : ` in database ${options.databases![index - 1]}`
    for (const { key, expiresAt: _, ...value } of store.dump().keys) {
      const name = typeof key === 'string' ? key : key.base64
      if (!ignored.some((fits) => fits(name))) held.set(name + place, valueText(value, streamIds))
    }
  }
  return held
}

/**
 * Formats a value for the comparison. Omits IDs of stream entries if they are not compared, and sorts collections
 * without an order, such as sets.
 */
function valueText(value: object, streamIds: boolean): string {
  const { type, ...content } = value as { type: string; [part: string]: unknown }
  if (type === 'string') return JSON.stringify(content.value)
  if (type === 'set')
    return `{${(content.members as unknown[])
      .map((item) => JSON.stringify(item))
      .sort()
      .join(', ')}}`
  if (type === 'vector')
    return JSON.stringify({
      ...content,
      vectors: (content.vectors as unknown[]).map((item) => JSON.stringify(item)).sort(),
    })
  if (type === 'hash')
    return `{${(content.fields as [unknown, unknown][])
      .map(([field, is]) => `${JSON.stringify(field)}: ${JSON.stringify(is)}`)
      .sort()
      .join(', ')}}`
  if (type === 'list') return JSON.stringify(content.elements)
  if (type === 'stream' && !streamIds)
    return JSON.stringify((content.entries as [string, ...unknown[]][]).map(([_, ...fields]) => fields))
  if (type === 'zset') return JSON.stringify(content.members)
  return JSON.stringify(content.value ?? content)
}

/**
 * Returns the differences between two runs as phrases.
 * @param there phrase that names the other run, such as `in the first run`
 */
export function differences(now: Effects, once: Effects, there = 'without faults'): string[] {
  const told: string[] = []
  for (const [key, value] of now.store) {
    const before = once.store.get(key)
    if (before === undefined) told.push(`${key} = ${value}, ${there} it does not exist`)
    else if (before !== value) told.push(`${key} = ${value}, ${there} ${before}`)
  }
  for (const [key, value] of once.store)
    if (!now.store.has(key)) told.push(`${key} does not exist, ${there} it is ${value}`)
  const counts = new Map<string, [number, number]>()
  for (const [side, list] of [now.outgoing, once.outgoing].entries()) {
    for (const call of list) {
      const count = counts.get(call) ?? [0, 0]
      count[side]!++
      counts.set(call, count)
    }
  }
  for (const [call, [times, wanted]] of counts)
    if (times !== wanted)
      told.push(
        `${call} was sent ${times === 1 ? 'once' : `${times} times`}, ${there} ${wanted === 1 ? 'once' : `${wanted} times`}`,
      )
  return told
}
