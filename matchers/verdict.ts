import type { Entry } from '../src/kernel/traffic-log.js'
import type { FailureData } from '../src/report/failure.js'
import { failureText } from '../src/report/failure-text.js'
import { composeFailure, type MatcherFinding } from './failure/compose-failure.js'
import { withoutSecrets } from './failure/hidden-values.js'
import type { TestLocation } from './failure/test-location.js'
import { argumentList, isPlainObject, literal } from './literal.js'
import {
  type Candidate,
  missLines,
  type PatternTest,
  type RankedMatches,
  rank,
  type ScoredCandidate,
  titleLine,
} from './near-misses.js'
import { type Bounds, boundsText, type CountRange, requireBounds, within } from './range.js'
import { inDatabase, type MatcherInput } from './received.js'

/** Result of a matcher. It is used for `expect(…)`, for `expect(…).not`, and without a test runner. */
export interface Verdict {
  /** Whether the value in `expect()` matches. `.not` does not change it. */
  readonly pass: boolean
  /** `seq` of the matching entries. */
  readonly matched: readonly number[]
  /**
   * Returns the data of the failure.
   * @param place location of the test, which the replay command contains
   */
  failure(not: boolean, place?: TestLocation): FailureData
  /** Returns the failure as text. */
  explain(not: boolean, place?: TestLocation): string
}

/** Creates a verdict. Its failure is composed only when a caller reads it. */
export function verdict(
  pass: boolean,
  failure: Verdict['failure'],
  found: () => readonly number[] = () => [],
): Verdict {
  return {
    pass,
    failure,
    get matched() {
      return found()
    },
    explain: (not, place) => failureText(failure(not, place)),
  }
}

/** Options of a matcher. */
export interface MatchOptions {
  /**
   * How many messages, requests or other candidates must match: a number, `'>=2'`, `'<=3'`, `'2..4'` or `{ min, max }`.
   * Default: one or more.
   */
  readonly times?: CountRange
}

export interface MatcherSearch<T> {
  readonly matcher: string
  /** Arguments with which the matcher was called, for the first line of a failure. */
  readonly call: readonly unknown[]
  readonly evidence: MatcherInput
  /** Returns all candidates. Each call reads them again. */
  readonly things: () => Iterable<T>
  /** Returns only candidates that can match. Set this function if it takes less time than returning all candidates. */
  readonly likely?: () => Iterable<T>
  readonly test: PatternTest<T>
  readonly candidate: (thing: T) => Candidate
  readonly times: Bounds | undefined
  /** Name of the candidates in texts, singular and plural: `published message`, `published messages`. */
  readonly noun: readonly [one: string, many: string]
  /** Returns hints about typical mistakes. The nearest candidates help to find the mistake. */
  readonly hints?: (nearest: readonly ScoredCandidate<T>[], place: TestLocation | undefined) => readonly string[]
  /** Returns whether the timeline may show an entry. Default: always `true`. */
  readonly shown?: (entry: Entry) => boolean
  /** Returns a report that is printed instead of the timeline. */
  readonly story?: (thing: T | undefined) => string
}

const foundShown = 5

/** Searches the candidates that match a pattern. The failure is composed only when a caller reads it. */
export function search<T>(given: MatcherSearch<T>): Verdict {
  const { times } = given
  const enough = times === undefined ? 1 : times.max + 1
  let count = 0
  for (const thing of (given.likely ?? given.things)()) {
    if (!given.test.fits(thing)) continue
    if (++count >= enough) break
  }
  let ranking: RankedMatches<T> | undefined
  const ranked = (): RankedMatches<T> => {
    ranking ??= rank(given.things(), given.test)
    return ranking
  }
  return verdict(
    times === undefined ? count > 0 : within(count, times),
    (not, place) => explanation(given, ranked(), not, place),
    () =>
      ranked()
        .found.map((thing) => given.candidate(thing).seq)
        .filter((seq) => seq > 0),
  )
}

function explanation<T>(
  given: MatcherSearch<T>,
  ranking: RankedMatches<T>,
  not: boolean,
  place: TestLocation | undefined,
): FailureData {
  const { evidence } = given
  const [near] = ranking.nearest
  const pointed = not ? ranking.found[0] : (near?.thing ?? ranking.found[0])
  const told = not ? ranking.found.slice(0, foundShown) : [near?.thing, ...ranking.found.slice(0, foundShown)]
  const isShort = !not && ranking.found.length < (given.times?.min ?? 1)
  return composeFailure({
    evidence,
    place,
    call: callLine(evidence, not, given.matcher, given.call),
    ...(not ? unwanted(given, ranking) : missing(given, ranking)),
    hints: isShort ? (given.hints?.(ranking.nearest, place) ?? []) : [],
    // The report of a workflow run already shows the messages that failed. So do not search for causes in entries
    // outside the chain of the failure.
    isMissing: isShort && given.story === undefined,
    mayRepeat: isShort ? attemptsOf(given, near?.thing) : ledTo(given, ranking.found),
    isUnwanted: !isShort,
    focus: told.flatMap((thing) => (thing === undefined ? [] : given.candidate(thing).seq || [])),
    shown: given.shown,
    story: given.story?.(pointed),
  })
}

/**
 * Returns a function that tests whether an entry belongs to a match: the matching entry itself, or the entry that
 * published its message.
 */
function ledTo<T>({ evidence, candidate }: MatcherSearch<T>, found: readonly T[]): (entry: Entry) => boolean {
  const seqs = new Set(found.map((thing) => candidate(thing).seq))
  const messages = new Set(
    evidence.entries.flatMap((entry) => ('messageId' in entry && seqs.has(entry.seq) ? entry.messageId : [])),
  )
  return (entry) => seqs.has(entry.seq) || (entry.type === 'published' && messages.has(entry.messageId))
}

/** Returns a function that tests whether an entry is an attempt of the message that is nearest to a match. */
function attemptsOf<T>({ evidence, candidate }: MatcherSearch<T>, near: T | undefined): (entry: Entry) => boolean {
  const seq = near === undefined ? undefined : candidate(near).seq
  const ends = [...evidence.ofType('attempt'), ...evidence.ofType('dead-letter')]
  const delivery = ends.find((end) => end.seq === seq)
  return (entry) => entry.type === 'attempt' && entry.messageId === delivery?.messageId
}

/** Returns the arguments of a matcher's call. An empty pattern and empty options are omitted. */
export function callOf(pattern: object, options: MatchOptions | undefined): readonly unknown[] {
  if (options?.times !== undefined) return [pattern, options]
  return Object.keys(pattern).length === 0 ? [] : [pattern]
}

/** Returns the call of a matcher as text: `expect(queue).not.toHavePublished({ … })`. */
export function callLine(evidence: MatcherInput, not: boolean, matcher: string, given: readonly unknown[]): string {
  const shown = given.map((value) => withoutSecrets(value, evidence.redaction))
  const { role, database } = evidence
  const subject = database === undefined ? role : `storeIn(${literal(database)})`
  return `expect(${subject})${not ? '.not' : ''}.${matcher}(${argumentList(shown)})`
}

function missing<T>(
  given: MatcherSearch<T>,
  { found, missed, nearest }: RankedMatches<T>,
): Pick<MatcherFinding, 'expected' | 'parts'> {
  const [one, many] = given.noun
  const { times, evidence } = given
  const place = inDatabase(evidence)
  const expected =
    times === undefined
      ? `Expected ${article(one)} ${one}${place}.`
      : `Expected ${boundsText(times)} ${boundsText(times).endsWith(' 1') ? one : many} like this${place}, found ${found.length}.`
  const isShort = found.length < (times?.min ?? 1)
  const fit = found.length > 0 ? [fitting(given, found, !isShort)] : []
  if (missed === 0 || !isShort) {
    const none = found.length === 0 ? ` There were no ${many} at all.` : ' These fit:'
    return { expected: `${expected}${none}`, parts: fit }
  }
  const parts = nearest.map(({ thing, compared }) => [
    titleLine(given.candidate(thing), startOf(evidence)),
    ...missLines(compared, evidence.redaction),
  ])
  if (found.length === 0) return { expected: `${expected} Nearest of ${missed}:`, parts }
  const [first = [], ...others] = parts
  return {
    expected: `${expected} These fit:`,
    parts: [...fit, [`Nearest of the other ${many}:`, ...first], ...others],
  }
}

function unwanted<T>(given: MatcherSearch<T>, { found }: RankedMatches<T>): Pick<MatcherFinding, 'expected' | 'parts'> {
  const [one, many] = given.noun
  const { times } = given
  const place = inDatabase(given.evidence)
  const expected =
    times === undefined
      ? `no ${one} like this${place}`
      : `any number of ${many} like this except ${boundsText(times)}${place}`
  if (found.length === 0) return { expected: `Expected ${expected}, found none.`, parts: [] }
  return { expected: `Expected ${expected}, found ${found.length}:`, parts: [fitting(given, found, found.length > 1)] }
}

/**
 * Returns the matches, one per line. @param isTooMany whether more matches were found than expected. Then full IDs are
 * printed, because short IDs may be equal
 */
function fitting<T>(given: MatcherSearch<T>, found: readonly T[], isTooMany: boolean): string[] {
  const first = startOf(given.evidence)
  const lines = found.slice(0, foundShown).map((thing) => {
    const { idTitle, ...candidate } = given.candidate(thing)
    return titleLine(isTooMany && idTitle !== undefined ? { ...candidate, title: idTitle } : candidate, first)
  })
  return found.length > foundShown ? [...lines, `  … and ${found.length - foundShown} more`] : lines
}

/**
 * Returns the time of the first entry. Later times are printed with a date only if their date differs from this one.
 */
export function startOf(evidence: MatcherInput): number {
  return evidence.entries[0]?.at ?? 0
}

function article(noun: string): string {
  return /^[aeiou]/i.test(noun) ? 'an' : 'a'
}

/**
 * Returns how many matches the last argument of a matcher expects, such as `{ times: 2 }`. Returns `undefined` if there
 * is no such argument: then one or more matches are expected.
 */
export function timesOf(matcher: string, options: unknown): Bounds | undefined {
  if (options === undefined) return undefined
  if (!isPlainObject(options)) {
    throw new TypeError(
      `${matcher}(): the last argument must be { times: … } (got ${literal(options)}). Put all fields into one pattern.`,
    )
  }
  const other = Object.keys(options).find((name) => name !== 'times')
  if (other !== undefined) {
    throw new TypeError(
      `${matcher}(): unknown option ${literal(other)}. Put all fields into one pattern. The only option is times, such as { times: 2 }.`,
    )
  }
  return options.times === undefined ? undefined : requireBounds(matcher, 'times', options.times)
}
