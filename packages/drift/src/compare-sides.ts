import type { ComparisonMode, Observation } from './case.js'
import { normalize } from './normal.js'

/** Difference between the two responses to one request. */
export interface ObservedDifference {
  /** Kind of difference: `status`, `error text`, `order of the reply`. */
  readonly what: string
  /** Value of each side as text. */
  readonly double: string
  readonly real: string
}

/** Returns the most significant difference between two responses. Returns `undefined` if they are equal. */
export function difference(double: Observation, real: Observation): ObservedDifference | undefined {
  return inOutcome(double, real) ?? inHeaders(double, real) ?? inValue(double, real)
}

/**
 * Splits two responses into pairs, which are compared separately. For a pipeline or a transaction, each reply is one
 * pair.
 */
export function parts(double: Observation, real: Observation): readonly (readonly [Observation, Observation])[] {
  const [ours, theirs] = [repliesIn(double), repliesIn(real)]
  if (ours === undefined || theirs === undefined || ours.length !== theirs.length) return [[double, real]]
  const { asked, loose, encoding } = double
  const part = (value: unknown, at: number): Observation => ({
    ...{ asked: `${asked} [${at}]`, value, loose },
    ...(encoding !== undefined && { encoding }),
  })
  return [
    [
      { ...double, value: null },
      { ...real, value: null },
    ],
    ...ours.map((value, at) => [part(value, at), part(theirs[at], at)] as const),
  ]
}

function repliesIn({ argv, value }: Observation): readonly unknown[] | undefined {
  if (argv !== undefined || !Array.isArray(value) || value.length === 0) return undefined
  return value.every((item) => isObject(item) && ('result' in item || 'error' in item)) ? value : undefined
}

const unavailable = /Command is not available|unknown command|not allowed in REST/i

function inOutcome(double: Observation, real: Observation): ObservedDifference | undefined {
  const [ours, theirs] = [errorOf(double.value), errorOf(real.value)]
  const shown = { double: outcome(double), real: outcome(real) }
  if (theirs !== undefined && unavailable.test(theirs) && !unavailable.test(ours ?? '')) {
    return { what: `missing command ${double.argv?.[0]?.toUpperCase() ?? ''}`.trim(), ...shown }
  }
  if (ours !== undefined && unavailable.test(ours) && !unavailable.test(theirs ?? '')) {
    return { what: `a command that the double lacks: ${double.argv?.[0]?.toUpperCase() ?? ''}`, ...shown }
  }
  if ((ours === undefined) !== (theirs === undefined)) return { what: 'an error on one side only', ...shown }
  if (double.status !== real.status) return { what: 'status', double: String(double.status), real: String(real.status) }
  if (ours === undefined || theirs === undefined || ours === theirs) return undefined
  return double.loose.includes('kind') ? undefined : { what: 'error text', double: ours, real: theirs }
}

export function errorOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /^-([A-Z]+ [^\r\n]*)\r\n$/i.exec(value)?.[1]
  const { error } = (value ?? {}) as { error?: unknown }
  return typeof error === 'string' ? error : undefined
}

function outcome({ status, value }: Observation): string {
  return `${status ?? ''} ${shown(value)}`.trim()
}

function inHeaders(double: Observation, real: Observation): ObservedDifference | undefined {
  const ours = double.headers ?? {}
  const theirs = real.headers ?? {}
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    if (ours[name] !== theirs[name])
      return { what: `header ${name}`, double: ours[name] ?? 'none', real: theirs[name] ?? 'none' }
  }
  return undefined
}

function inValue(double: Observation, real: Observation): ObservedDifference | undefined {
  const { loose, encoding } = double
  const [ours, theirs] = loose.includes('normal')
    ? [normalize(double.value), normalize(real.value)]
    : [double.value, real.value]
  const found = inValues(ours, theirs, loose, '')
  if (found === undefined) return undefined
  const what = encoding === undefined ? found.what : `${encoding === 'base64' ? 'base64 form' : 'RESP2 form'}`
  return { ...found, what }
}

/**
 * Compares two values of a response.
 * @param place path of the value within the response, such as `result` or `[0].state`
 */
function inValues(
  ours: unknown,
  theirs: unknown,
  loose: readonly ComparisonMode[],
  place: string,
): ObservedDifference | undefined {
  const both = { double: shown(ours), real: shown(theirs) }
  const at = place === '' ? '' : ` at ${place}`
  if (kindOf(ours) !== kindOf(theirs)) {
    // A random command may return an empty list or a nil.
    return { what: `type of the reply${at}: ${kindOf(ours)} and ${kindOf(theirs)}`, ...both }
  }
  if (Array.isArray(ours) && Array.isArray(theirs)) return inLists(ours, theirs, loose, place)
  if (isObject(ours) && isObject(theirs)) return inFields(ours, theirs, loose, place)
  if (ours === theirs || loose.includes('kind')) return undefined
  if (loose.includes('shape') && String(ours).length === String(theirs).length) return undefined
  if (loose.includes('shape') && typeof ours === 'number') return undefined
  if (isNear(ours, theirs, loose)) return undefined
  return { what: `value${at}`, ...both }
}

function inLists(
  ours: readonly unknown[],
  theirs: readonly unknown[],
  loose: readonly ComparisonMode[],
  place: string,
): ObservedDifference | undefined {
  if (loose.includes('kind')) return undefined
  const both = { double: shown(ours), real: shown(theirs) }
  const isSet = loose.includes('unordered') || loose.includes('pairs')
  const sorted = (list: readonly unknown[]): readonly unknown[] =>
    (loose.includes('pairs') ? pairs(list) : [...list]).sort(byText)
  if (ours.length === theirs.length && !loose.includes('shape') && same(sorted(ours), sorted(theirs))) {
    return isSet || same(ours, theirs)
      ? undefined
      : { what: `order of the reply${place === '' ? '' : ` at ${place}`}`, ...both }
  }
  if (ours.length !== theirs.length)
    return { what: `length of the reply${place === '' ? '' : ` at ${place}`}`, ...both }
  const [left, right] = isSet ? [sorted(ours), sorted(theirs)] : [ours, theirs]
  for (const [index, item] of left.entries()) {
    const found = inValues(item, right[index], loose, `${place}[${index}]`)
    if (found !== undefined) return found
  }
  return undefined
}

function inFields(
  ours: Readonly<Record<string, unknown>>,
  theirs: Readonly<Record<string, unknown>>,
  loose: readonly ComparisonMode[],
  place: string,
): ObservedDifference | undefined {
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const within = place === '' ? name : `${place}.${name}`
    if (!(name in theirs)) return { what: `field ${within} is missing`, double: shown(ours[name]), real: 'none' }
    if (!(name in ours)) return { what: `field ${within} is additional`, double: 'none', real: shown(theirs[name]) }
    const found = inValues(ours[name], theirs[name], loose, within)
    if (found !== undefined) return found
  }
  return undefined
}

function isNear(ours: unknown, theirs: unknown, loose: readonly ComparisonMode[]): boolean {
  if (typeof ours !== 'number' || typeof theirs !== 'number') return false
  const apart = Math.abs(ours - theirs)
  return (loose.includes('near') && apart <= 5) || (loose.includes('nearms') && apart <= 5_000)
}

function pairs(list: readonly unknown[]): unknown[] {
  return Array.from({ length: Math.ceil(list.length / 2) }, (_, at) => list.slice(2 * at, 2 * at + 2))
}

function byText(a: unknown, b: unknown): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value
}

/**
 * Maximum number of characters that the report shows, and number of characters after them that are searched for
 * secrets. A secret that is cut at the end would not be recognized.
 */
const maxShown = 400
const margin = 8192

/**
 * Formats a value as text. Keeps more characters than the report shows, so that secrets can be removed before the text
 * is shortened.
 */
function shown(value: unknown): string {
  return cut(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'), maxShown + margin)
}

/** Prepares a text for the report: removes its secrets, then shortens it. */
export function normalized(text: string, hide: (text: string) => string): string {
  return cut(hide(text), maxShown)
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
