import type { Entry } from '../src/kernel/traffic.js'
import { timeline } from '../src/report/timeline.js'
import { withoutSecrets } from './hidden.js'
import { argumentList, isPlainObject, literal } from './literal.js'
import { machineTimeHint } from './machine-time.js'
import { type Candidate, type Judged, missLines, type Ranking, rank, type Test, titleLine } from './near-misses.js'
import { type Bounds, boundsText, type Range, requireBounds, within } from './range.js'
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
  /** How many must fit: a number, `'>=2'`, `'<=3'`, `'2..4'` or `{ min, max }`. Default: one or more. */
  readonly times?: Range
}

export interface Search<T> {
  readonly matcher: string
  /** The arguments of the call, for the first line of a failure. */
  readonly call: readonly unknown[]
  readonly evidence: Evidence
  /** Everything that may fit; read anew for each question. */
  readonly things: () => Iterable<T>
  /** The same or fewer, when a cheaper look tells that the others cannot fit. */
  readonly likely?: () => Iterable<T>
  readonly test: Test<T>
  readonly candidate: (thing: T) => Candidate
  readonly times: Bounds | undefined
  /** `published message`, `published messages`. */
  readonly noun: readonly [one: string, many: string]
  /** Sentences for typical mistakes, given what nearly fitted. */
  readonly hints?: (nearest: readonly Judged<T>[]) => readonly string[]
  /** Which entries the timeline shows; all by default. */
  readonly shown?: (entry: Entry) => boolean
  /** The end of a failure instead of a timeline. */
  readonly story?: (thing: T | undefined) => string
}

const foundShown = 5
const timelineEntries = 40

/** Looks for the pattern; everything that only a failure needs waits until it is told. */
export function search<T>(given: Search<T>): Verdict {
  const { times } = given
  const enough = times === undefined ? 1 : times.max + 1
  let count = 0
  for (const thing of (given.likely ?? given.things)()) {
    if (!given.test.fits(thing)) continue
    if (++count >= enough) break
  }
  let ranking: Ranking<T> | undefined
  const ranked = (): Ranking<T> => {
    ranking ??= rank(given.things(), given.test)
    return ranking
  }
  return {
    pass: times === undefined ? count > 0 : within(count, times),
    get found() {
      return ranked()
        .found.map((thing) => given.candidate(thing).seq)
        .filter((seq) => seq > 0)
    },
    explain: (not) => explanation(given, ranked(), not),
  }
}

function explanation<T>(given: Search<T>, ranking: Ranking<T>, not: boolean): string {
  const { evidence } = given
  const lines = [callLine(evidence, not, given.matcher, given.call), '']
  const [near] = ranking.nearest
  const pointed = not ? ranking.found[0] : (near?.thing ?? ranking.found[0])
  const focus = (pointed === undefined ? undefined : given.candidate(pointed).seq) || undefined
  lines.push(...(not ? unwanted(given, ranking) : missing(given, ranking)))
  const isShort = ranking.found.length < (given.times?.min ?? 1)
  const hints = not || !isShort ? [] : [...(given.hints?.(ranking.nearest) ?? [])]
  const machineTime = machineTimeHint(evidence)
  if (machineTime !== undefined) hints.push(machineTime)
  if (hints.length > 0) lines.push('', ...hints.map((hint) => `Hint: ${hint}`))
  // A request that was taken out of its log has no story.
  if (evidence.entries.length === 0 && evidence.context.seed === undefined) return lines.join('\n')
  lines.push(replayLine(evidence, focus))
  if (given.story !== undefined) return `${lines.join('\n')}\n\n${given.story(pointed)}`
  const entries = given.shown ? evidence.entries.filter(given.shown) : evidence.entries
  return `${lines.join('\n')}\n\n${storyText(evidence, entries, focus)}`
}

/** What the call had as arguments, as far as they say something. */
export function callOf(pattern: object, options: MatchOptions | undefined): readonly unknown[] {
  if (options?.times !== undefined) return [pattern, options]
  return Object.keys(pattern).length === 0 ? [] : [pattern]
}

/** `expect(queue).not.toHavePublished({ … })`. */
export function callLine(evidence: Evidence, not: boolean, matcher: string, given: readonly unknown[]): string {
  const shown = given.map((value) => withoutSecrets(value, evidence.redaction))
  return `expect(${evidence.role})${not ? '.not' : ''}.${matcher}(${argumentList(shown)})`
}

function missing<T>(given: Search<T>, { found, missed, nearest }: Ranking<T>): string[] {
  const [one, many] = given.noun
  const { times } = given
  const expected =
    times === undefined
      ? `Expected ${article(one)} ${one}.`
      : `Expected ${boundsText(times)} ${boundsText(times).endsWith(' 1') ? one : many} like this, found ${found.length}.`
  const lines = found.length > 0 ? [`${expected} These fit:`, ...fitting(given, found)] : [expected]
  if (missed > 0 && found.length < (times?.min ?? 1)) {
    if (found.length > 0) lines.push('Nearest of the others:')
    else lines[0] += ` Nearest of ${missed}:`
    for (const { thing, compared } of nearest) {
      lines.push(
        titleLine(given.candidate(thing), startOf(given.evidence)),
        ...missLines(compared, given.evidence.redaction),
      )
    }
  } else if (found.length === 0) lines[0] += ` There were no ${many} at all.`
  return lines
}

function unwanted<T>(given: Search<T>, { found }: Ranking<T>): string[] {
  const [one, many] = given.noun
  const { times } = given
  const expected =
    times === undefined ? `no ${one} like this` : `any number of ${many} like this but ${boundsText(times)}`
  if (found.length === 0) return [`Expected ${expected}, found none.`]
  return [`Expected ${expected}, found ${found.length}:`, ...fitting(given, found)]
}

function fitting<T>(given: Search<T>, found: readonly T[]): string[] {
  const first = startOf(given.evidence)
  const lines = found.slice(0, foundShown).map((thing) => titleLine(given.candidate(thing), first))
  return found.length > foundShown ? [...lines, `  … and ${found.length - foundShown} more`] : lines
}

/** `Replay: seed 7, entry 17`: what it takes to come back to this place. */
export function replayLine(evidence: Evidence, seq: number | undefined): string {
  const parts = [
    evidence.context.seed !== undefined && `seed ${evidence.context.seed}`,
    seq !== undefined && `entry ${seq}`,
  ].filter(Boolean)
  return parts.length === 0 ? 'No entries.' : `Replay: ${parts.join(', ')}`
}

export function storyText(evidence: Evidence, entries: readonly Entry[], focus: number | undefined): string {
  const options = { limit: timelineEntries, ...(focus !== undefined && { around: focus }) }
  return timeline(entries, options, evidence.redaction)
}

/** Titles only tell the date when it is not that of the first entry. */
export function startOf(evidence: Evidence): number {
  return evidence.entries[0]?.at ?? 0
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? 'an' : 'a'
}

/** The range in the last argument of a matcher; `undefined` for one or more. */
export function timesOf(matcher: string, options: unknown): Bounds | undefined {
  if (options === undefined) return undefined
  if (!isPlainObject(options)) {
    throw new TypeError(`${matcher}() takes { times: … } as its last argument, got ${literal(options)}.`)
  }
  const other = Object.keys(options).find((name) => name !== 'times')
  if (other !== undefined) {
    throw new TypeError(
      `${matcher}() knows no option ${literal(other)}; fields go into one pattern, and the only option is { times: 2 }.`,
    )
  }
  return options.times === undefined ? undefined : requireBounds(matcher, 'times', options.times)
}
