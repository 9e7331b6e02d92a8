import type { Entry } from '../src/kernel/traffic.js'
import { timeline } from '../src/report/timeline.js'
import { type Candidate, type Judged, judge, missLines, nearestOf, titleLine } from './near-misses.js'
import type { Evidence } from './received.js'

/** What a matcher found. The same object answers `expect(…)`, `expect(…).not` and a search. */
export interface Verdict {
  readonly pass: boolean
  /** `seq` of the entries that fit. */
  readonly found: readonly number[]
  /** The text of the failure: of the assertion, or of its `.not`. */
  explain(not: boolean): string
}

export interface MatchOptions {
  /** Exactly how many must fit. Default: one or more. */
  readonly times?: number
}

export interface Search {
  readonly matcher: string
  /** The arguments as they shall be printed. */
  readonly call: string
  readonly evidence: Evidence
  readonly candidates: readonly Candidate[]
  readonly times: number | undefined
  /** `published message`, `published messages`. */
  readonly noun: readonly [one: string, many: string]
  /** Sentences for typical mistakes, given what nearly fitted. */
  readonly hints?: (nearest: readonly Judged[]) => readonly string[]
  /** Which entries the timeline shows; all by default. */
  readonly shown?: (entry: Entry) => boolean
}

const nearestShown = 3
const foundShown = 5
const timelineEntries = 40

/** Judges every candidate and puts the outcome into words. */
export function search(given: Search): Verdict {
  checkTimes(given.matcher, given.times)
  const judged = given.candidates.map((candidate) => judge(candidate))
  const found = judged.filter((one) => one.misses.length === 0)
  const pass = given.times === undefined ? found.length > 0 : found.length === given.times
  return {
    pass,
    found: found.map((one) => one.candidate.seq).filter((seq) => seq > 0),
    explain: (not) => explanation(given, judged, found, not),
  }
}

function explanation(given: Search, judged: readonly Judged[], found: readonly Judged[], not: boolean): string {
  const nearest = nearestOf(judged)
  const lines = [`expect(${given.evidence.role})${not ? '.not' : ''}.${given.matcher}(${given.call})`, '']
  if (not) lines.push(...unwanted(given, found))
  else lines.push(...missing(given, found, nearest))
  const hints = not ? [] : (given.hints?.(nearest) ?? [])
  if (hints.length > 0) lines.push('', ...hints.map((hint) => `Hint: ${hint}`))
  const focus = (not ? found : nearest)[0]?.candidate.seq || undefined
  lines.push(replayLine(given.evidence, focus))
  return `${lines.filter((line) => line !== undefined).join('\n')}\n\n${story(given, focus)}`
}

function missing(given: Search, found: readonly Judged[], nearest: readonly Judged[]): string[] {
  const [one, many] = given.noun
  const first = startOf(given.evidence)
  const lines: string[] = []
  if (given.times === undefined) lines.push(`Expected ${article(one)} ${one}.`)
  else lines.push(`Expected ${counted(given.times, given.noun)}, found ${found.length}.`)
  if (found.length > 0) lines[0] += ' These fit:'
  lines.push(
    ...found.slice(0, foundShown).map((fit) => titleLine(fit.candidate, first)),
    ...more(found.length, foundShown),
  )
  if (nearest.length > 0 && found.length < (given.times ?? 1)) {
    const heading = found.length > 0 ? 'Nearest of the others:' : `Nearest of ${nearest.length}:`
    if (found.length > 0) lines.push(heading)
    else lines[0] += ` ${heading}`
    for (const miss of nearest.slice(0, nearestShown)) lines.push(titleLine(miss.candidate, first), ...missLines(miss))
  } else if (found.length === 0) lines[0] += ` There were no ${many} at all.`
  return lines
}

function unwanted(given: Search, found: readonly Judged[]): string[] {
  const first = startOf(given.evidence)
  const expected =
    given.times === undefined
      ? `no ${given.noun[0]} like this`
      : `any number but ${given.times} of ${given.noun[1]} like this`
  return [
    `Expected ${expected}, found ${found.length}:`,
    ...found.slice(0, foundShown).map((fit) => titleLine(fit.candidate, first)),
    ...more(found.length, foundShown),
  ]
}

function more(all: number, shown: number): string[] {
  return all > shown ? [`  … and ${all - shown} more`] : []
}

/** `Replay: seed 7, entry 17`: what it takes to come back to this place. */
export function replayLine(evidence: Evidence, seq: number | undefined): string {
  const parts = [
    evidence.context.seed !== undefined && `seed ${evidence.context.seed}`,
    seq !== undefined && `entry ${seq}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'No entries.' : `Replay: ${parts.join(', ')}`
}

function story(given: Search, focus: number | undefined): string {
  const entries = given.shown ? given.evidence.entries.filter(given.shown) : given.evidence.entries
  return storyText(entries, focus)
}

export function storyText(entries: readonly Entry[], focus: number | undefined): string {
  return timeline(entries, { limit: timelineEntries, ...(focus !== undefined && { around: focus }) })
}

/** Titles only tell the date when it is not that of the first entry. */
function startOf(evidence: Evidence): number {
  return evidence.entries[0]?.at ?? 0
}

function counted(times: number, [one, many]: Search['noun']): string {
  return times === 1 ? `exactly 1 ${one} like this` : `exactly ${times} ${many} like this`
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? 'an' : 'a'
}

function checkTimes(matcher: string, times: unknown): void {
  if (times === undefined || (Number.isInteger(times) && (times as number) >= 0)) return
  throw new TypeError(`${matcher}() needs a whole number as times, for example { times: 2 }; got ${String(times)}.`)
}
