import type { RedactedFields } from '../src/kernel/traffic-log.js'
import type { Redaction } from '../src/report/redaction.js'
import { timeSeenFrom } from '../src/report/shown-times.js'
import { roughDistance, type ValueDifference } from './compare-values.js'
import { body, headers, type ValueComparison } from './comparison-kinds.js'
import { isHidden, redactOf } from './failure/hidden-values.js'
import type { PatternFields } from './pattern-fields.js'

/** A message, a request or another candidate for a match, as a failure shows it. */
export interface Candidate {
  /** `seq` of the candidate's entry. 0 if the candidate is not an entry of the log. */
  readonly seq: number
  readonly at: number
  /** Short description, safe to print. */
  readonly title: string
  /** Description that also contains the full ID and the deduplication ID. */
  readonly idTitle?: string
}

export interface ComparedField {
  readonly name: string
  readonly differences: readonly ValueDifference[]
  /** Whether the expected and the received value are secret and must not be printed. */
  readonly isSecret?: boolean
  /** Fields of the message that its publisher redacted. */
  readonly redact?: RedactedFields | undefined
}

/** A compiled pattern, which is fast enough for thousands of candidates. */
export interface PatternTest<T> {
  fits(thing: T): boolean
  /**
   * Returns the approximate distance of a candidate from the pattern, computed only from fields that are cheap to
   * compare. 0 if all of these fields match.
   */
  rough(thing: T): number
  /** Compares all fields of the pattern, in their order. */
  compare(thing: T): readonly ComparedField[]
  /** Returns the approximate time in microseconds that `compare()` takes for a candidate. */
  work(thing: T): number
}

/** Weights of fields in the distance. Fields that identify a candidate, such as its URL, have the greatest weight. */
const weights: Readonly<Record<string, number>> = {
  to: 3,
  url: 3,
  command: 3,
  key: 3,
  kind: 2,
  messageId: 3,
  workflow: 3,
  runId: 3,
  name: 3,
  event: 3,
}

/**
 * Fields that depend on what happened to a candidate, such as its status. All of them together weigh less than one
 * identifying field.
 */
const fates: ReadonlySet<string> = new Set([
  ...['state', 'status', 'attempts', 'retried', 'error', 'response', 'deliveredAt'],
  ...['steps', 'result', 'cost', 'outcome', 'data'],
])
const fateWeight = 0.05

export function weightOf(name: string): number {
  return weights[name] ?? (fates.has(name) ? fateWeight : 1)
}

interface PatternPart<T> {
  readonly name: string
  readonly read: (thing: T) => unknown
  readonly comparison: ValueComparison
  /**
   * Approximate time for comparing this field of one candidate, in microseconds. For a body, the time that depends on
   * its size is added later.
   */
  readonly cost: number
  readonly isBody: boolean
  readonly isSecret: (thing: never) => boolean
}

/**
 * Approximate time for comparing one field of each kind, in microseconds. Headers take the longest, because reading the
 * headers of an attempt computes its signature.
 */
const costs = new Map<unknown, number>([
  [headers, 40],
  [body, 4],
])

export function testOf<T>(fields: PatternFields<T>, pattern: Readonly<Record<string, unknown>>): PatternTest<T> {
  const parts = Object.entries(pattern).map(([name, expected]): PatternPart<T> => {
    const { read, kind, isSecret = () => false } = fields[name]!
    return {
      name,
      read,
      comparison: kind(expected),
      cost: costs.get(kind) ?? 0,
      isBody: kind === body,
      isSecret,
    }
  })
  const cheapFirst = parts.toSorted((a, b) => a.cost - b.cost)
  const cheap = cheapFirst.filter(({ cost }) => cost === 0)
  const costly = cheapFirst.filter(({ cost }) => cost > 0)
  return {
    fits: (thing) => {
      for (let index = 0; index < cheapFirst.length; index++) {
        const { read, comparison } = cheapFirst[index]!
        if (!comparison.fits(read(thing))) return false
      }
      return true
    },
    rough: (thing) => {
      let distance = 0
      for (const { name, read, comparison } of cheap) {
        const received = read(thing)
        if (comparison.fits(received)) continue
        distance += weightOf(name) * (0.5 + roughDistance(received, comparison.expected) / 2)
      }
      return distance
    },
    compare: (thing) => {
      const redact = redactOf(thing)
      return parts.map(({ name, read, comparison, isSecret }) => {
        return { name, differences: comparison.differences(read(thing)), redact, isSecret: isSecret(thing as never) }
      })
    },
    work: (thing) => {
      let work = 4
      for (const { cost, isBody, read } of costly) work += cost + (isBody ? bodyWork(read(thing)) : 0)
      return work
    },
  }
}

function bodyWork(received: unknown): number {
  return typeof received === 'string' ? received.length / 100 : 0
}

export interface ScoredCandidate<T> {
  readonly thing: T
  readonly compared: readonly ComparedField[]
}

/** The candidates that match, and the other candidates that are nearest to a match, the nearest first. */
export interface RankedMatches<T> {
  readonly found: readonly T[]
  readonly missed: number
  readonly nearest: readonly ScoredCandidate<T>[]
}

/** Approximate maximum time for finding the nearest candidates, in microseconds. */
const budget = 100_000

/**
 * Separates matches from other candidates, and finds the nearest of the others. The others are sorted by the
 * approximate distance, so that only a few need a full comparison.
 */
export function rank<T>(things: Iterable<T>, test: PatternTest<T>, most = 3): RankedMatches<T> {
  const found: T[] = []
  const missed: { readonly thing: T; readonly rough: number }[] = []
  for (const thing of things) {
    const rough = test.rough(thing)
    if (rough === 0 && test.fits(thing)) found.push(thing)
    else missed.push({ thing, rough })
  }
  missed.sort((a, b) => a.rough - b.rough)
  let nearest: { judged: ScoredCandidate<T>; distance: number }[] = []
  let left = budget
  for (const { thing, rough } of missed) {
    const furthest = nearest.length < most ? Number.POSITIVE_INFINITY : nearest.at(-1)!.distance
    if (rough >= furthest || (left <= 0 && nearest.length === most)) break
    left -= test.work(thing)
    const compared = test.compare(thing)
    const distance = distanceOf(compared)
    if (distance >= furthest) continue
    nearest.push({ judged: { thing, compared }, distance })
    // The sort is stable. If two candidates have the same distance, the earlier candidate stays first.
    nearest.sort((a, b) => a.distance - b.distance)
    nearest = nearest.slice(0, most)
  }
  return { found, missed: missed.length, nearest: nearest.map(({ judged }) => judged) }
}

export function distanceOf(compared: readonly ComparedField[]): number {
  let distance = 0
  for (const { name, differences } of compared) {
    if (differences.length === 0) continue
    let furthest = 0
    for (const one of differences.slice(0, maxDifferences)) furthest = Math.max(furthest, one.distance)
    // Any difference counts at least half of the field's weight. So one large difference does not count more than two
    // small differences in fields of the same weight.
    distance += weightOf(name) * (0.5 + furthest / 2)
  }
  return distance
}

/** Returns the first line of a candidate: `  #17 at 09:00:12.000   msg_2Kd…   to https://shop.test/orders`. */
export function titleLine(candidate: Candidate, first: number): string {
  // Schedules, and requests that are not in the log, have no entry number.
  if (candidate.seq === 0) return `  ${candidate.title}`
  return `  #${candidate.seq} at ${timeSeenFrom(candidate.at, first)}   ${candidate.title}`
}

const widest = 110
const indent = '      '

/**
 * Formats compared fields, several per line: ` ✓ to ✗ retries: expected 3, received 5`. Fields that need several lines
 * come last.
 */
export function missLines(all: readonly ComparedField[], redaction: Redaction): string[] {
  const lines: string[] = []
  const blocks: string[] = []
  for (const item of all.flatMap((compared) => itemsOf(compared, redaction, blocks))) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + item.length + 3 <= widest) lines[lines.length - 1] = `${last}   ${item}`
    else lines.push(`${indent}${item}`)
  }
  return [...lines, ...blocks]
}

const maxDifferences = 6

function itemsOf(compared: ComparedField, redaction: Redaction, blocks: string[]): string[] {
  if (compared.differences.length === 0) return [`✓ ${compared.name}`]
  const items: string[] = []
  for (const one of compared.differences.slice(0, maxDifferences)) {
    const name = `✗ ${compared.name}${one.path}`
    const { expected, received, lines } = one.told(redaction)
    if (isHidden(compared.name, one.path, compared.redact))
      items.push(`${name}: the values differ, but the publisher hides them`)
    else if (compared.isSecret === true || expected === received)
      items.push(`${name}: the values differ, but they are hidden as secrets`)
    else if (lines === undefined) items.push(`${name}: expected ${expected}, received ${received}`)
    else
      blocks.push(
        `${indent}${name}, - expected + received:`,
        ...lines.map((line) => (line === '' ? '' : `${indent}    ${line}`)),
      )
  }
  const rest = compared.differences.length - maxDifferences
  if (rest > 0) items.push(`… ${rest} more differences in ${compared.name}`)
  return items
}
