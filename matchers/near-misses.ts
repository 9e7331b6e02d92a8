import { instant } from '../src/kernel/clock.js'
import { type Duration, milliseconds } from '../src/kernel/duration.js'
import { nearestName } from '../src/kernel/nearest-name.js'
import { timeSeenFrom } from '../src/report/instants.js'
import type { Difference } from './compare.js'
import type { Field } from './fields.js'
import { isAsymmetric, isPlainObject, literal } from './literal.js'

/** Something that may be what was expected. */
export interface Candidate {
  readonly seq: number
  readonly at: number
  /** What it is, in a few words, safe to print. */
  title(): string
  /** The expected fields and what became of comparing them, in the order in which the test names them. */
  readonly compared: readonly Compared[]
}

export interface Compared {
  readonly name: string
  readonly differences: readonly Difference[]
  /** The title tells the received value already. */
  readonly inTitle?: boolean
}

export interface Judged {
  readonly candidate: Candidate
  readonly misses: readonly Compared[]
}

/** How much more a wrong field of this name counts: what a thing is called tells most about which one was meant. */
const weights: Readonly<Record<string, number>> = { to: 3, url: 3, command: 3, key: 3, kind: 2, messageId: 3 }

export function judge(candidate: Candidate): Judged {
  return { candidate, misses: candidate.compared.filter((one) => one.differences.length > 0) }
}

/** Those that do not fit, nearest first. */
export function nearestOf(judged: readonly Judged[]): Judged[] {
  return judged
    .filter((one) => one.misses.length > 0)
    .map((one) => ({ one, apart: distanceOf(one) }))
    .sort((a, b) => a.apart - b.apart || a.one.candidate.seq - b.one.candidate.seq)
    .map(({ one }) => one)
}

function distanceOf(judged: Judged): number {
  let distance = 0
  for (const miss of judged.misses) {
    const furthest = Math.max(...miss.differences.map((one) => one.distance))
    // A field that is nearly right still counts: one wrong field is nearer than two.
    distance += (weights[miss.name] ?? 1) * (0.5 + furthest / 2)
  }
  return distance
}

/** `  #17 at 09:00:12.000   msg_2Kd…   to https://shop.test/orders` */
export function titleLine(candidate: Candidate, first: number): string {
  // Not everything is an entry of the log.
  if (candidate.seq === 0) return `  ${candidate.title()}`
  return `  #${candidate.seq} at ${timeSeenFrom(candidate.at, first)}   ${candidate.title()}`
}

const widest = 110

/** `      ✓ to   ✓ body   ✗ retries: expected 3, received 5`, on as many lines as it takes. */
export function missLines(judged: Judged): string[] {
  const items = judged.candidate.compared.flatMap(itemsOf)
  const lines: string[] = []
  for (const item of items) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + item.length + 3 <= widest) lines[lines.length - 1] = `${last}   ${item}`
    else lines.push(`      ${item}`)
  }
  return lines
}

const mostDifferences = 6

function itemsOf(compared: Compared): string[] {
  if (compared.differences.length === 0) return [`✓ ${compared.name}`]
  if (compared.inTitle === true) return [`✗ ${compared.name}`]
  const shown = compared.differences
    .slice(0, mostDifferences)
    .map((one) => `✗ ${compared.name}${one.path}: expected ${one.expected}, received ${one.received}`)
  const rest = compared.differences.length - shown.length
  return rest > 0 ? [...shown, `✗ ${compared.name}: ${rest} more differences`] : shown
}

/** Compares the named fields of a captured thing with a pattern. */
export function compareFields(
  fields: Readonly<Record<string, Field>>,
  pattern: Readonly<Record<string, unknown>>,
  inTitle: readonly string[] = [],
): Compared[] {
  return Object.entries(pattern).map(([name, expected]) => {
    const differences = fields[name]!(expected)
    return inTitle.includes(name) && typeof expected === 'string'
      ? { name, differences, inTitle: true }
      : { name, differences }
  })
}

/** How a field's expected value is read, where not everything can be. */
export type Reading = 'span' | 'moment'

/** A pattern that can never fit would make `.not` hold for ever: it is refused at once, whatever was captured. */
export function checkPattern(
  matcher: string,
  pattern: unknown,
  known: readonly string[],
  readings: Readonly<Record<string, Reading>> = {},
): asserts pattern is Record<string, unknown> {
  if (!isPlainObject(pattern)) {
    throw new TypeError(
      `${matcher}() needs an object with the fields to look for, for example { ${known[0]}: … }; got ${literal(pattern)}.`,
    )
  }
  for (const [name, value] of Object.entries(pattern)) {
    if (!known.includes(name)) throw unknownField(matcher, name, value, known)
    if (value === undefined || value === null || isAsymmetric(value)) continue
    if (readings[name] === 'span') milliseconds(value as Duration)
    else if (readings[name] === 'moment') instant(value as string)
  }
}

function unknownField(matcher: string, name: string, value: unknown, known: readonly string[]): TypeError {
  if (name === 'times') {
    return new TypeError(
      `${matcher}() takes times as its second argument: ${matcher}({ … }, { times: ${literal(value)} }).`,
    )
  }
  const slip = synonyms[name] ?? nearestName(name, known)
  const advice = slip !== undefined && known.includes(slip) ? ` Did you mean ${slip}?` : ''
  return new TypeError(`${matcher}() knows no field ${literal(name)}.${advice} The fields are ${known.join(', ')}.`)
}

/** What people write instead of our names. */
const synonyms: Readonly<Record<string, string>> = {
  url: 'to',
  destination: 'to',
  maxRetries: 'retries',
  id: 'messageId',
  topic: 'urlGroup',
  group: 'urlGroup',
  data: 'body',
  payload: 'body',
  queueName: 'queue',
  tries: 'attempts',
}
