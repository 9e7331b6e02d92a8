import type { Entry } from '../../src/kernel/traffic-log.js'
import type { FailureData } from '../../src/report/failure.js'
import { failureParts } from '../../src/report/failure-text.js'
import { evidenceOf, type MatcherInput } from '../received.js'
import { Chain, type Subject } from './chain.js'
import { causesOf, type Failed } from './failure-causes.js'
import { sandboxOf } from './sandbox-facts.js'
import { replayCommand, type TestLocation } from './test-location.js'

/** Maximum number of lines of a failure, and of its part above the timeline. */
const maxLines = 40
const maxAbove = 15
const maxHints = 4
const maxOfCall = 6
const maxNotes = 8

/** Facts about the failure of a matcher, from which the failure text is composed. All texts are safe to print. */
export interface MatcherFinding extends Subject {
  readonly evidence: MatcherInput
  readonly place: TestLocation | undefined
  /** `expect(queue).toHaveDelivered({ … })`. */
  readonly call: string
  readonly expected: string
  /**
   * Received values as lines, the nearest value first. Values that do not fit are omitted, but the first value is
   * shortened instead of omitted.
   */
  readonly parts: readonly (readonly string[])[]
  /** Hints about typical mistakes, the most likely one first. */
  readonly hints?: readonly string[]
  /** Whether the failure is about something that is missing. Then dead letters may explain it. */
  readonly isMissing?: boolean
  /**
   * Returns whether several attempts of one message, each with an entry like the passed one, could explain the failure.
   * Default: always `false`.
   */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** Whether something exists that must not exist, or exists too often. */
  readonly isUnwanted?: boolean
  /** Whether the text of the failure already lists unused faults. */
  readonly tellsUnused?: boolean
  /** Line above the timeline. */
  readonly lead?: string
  /** Report that is printed at the end of the failure instead of the timeline. */
  readonly story?: string | undefined
}

/**
 * Composes a failure of at most 40 lines. At most 15 of them are above the timeline: proven causes, the expected and
 * received values, hints, and the command that replays the test.
 */
export function composeFailure(finding: MatcherFinding): FailureData {
  const { evidence, call, expected, parts, place, focus } = finding
  const chain = new Chain(evidence, finding)
  const { proven, hints, details } = causesOf(evidence, { ...finding, chain })
  const way = wayBack(evidence, focus[0], place)
  const head: FailureData = {
    call: squeezed(call),
    causes: proven.map(withOneStop),
    expected,
    hints: hints
      .filter((hint) => !proven.includes(hint))
      .slice(0, maxHints)
      .map(withOneStop),
    ...(focus[0] !== undefined && { nearest: focus[0] }),
    ...way,
  }
  const received = fitting(parts, maxAbove - linesOf(head).length - 1)
  const above: FailureData = { ...head, received }
  if (way === undefined) return above
  const lead = finding.lead === undefined ? [] : [finding.lead]
  const lines = linesOf(above)
  const left = maxLines - lines.length - 1 - lead.length
  const story =
    finding.story === undefined
      ? chain.lines(left, namedIn(lines), details)
      : storyWith(finding.story, left, evidence, namedIn([...proven, ...(head.hints ?? [])]), namedIn(lines))
  return { ...above, timeline: [...lead, ...story] }
}

/**
 * A test that failed for another reason than a matcher: for example, another assertion failed, or messages were still
 * pending.
 */
interface TestEnding extends Pick<Failed, 'message' | 'said' | 'waits' | 'standstill'> {
  readonly withHints?: boolean
  /** Whether the failure already states that the app did not use the sandbox. */
  readonly saysUnasked?: boolean
}

/**
 * Composes the text that the sandbox adds to a failure of another assertion. It contains causes, the command that
 * replays the test, and the timeline. If the app did not use the sandbox, the text says so.
 */
export function composeEnding(received: object, place: TestLocation | undefined, ending: TestEnding): FailureData {
  const evidence = evidenceOf('story', received, 'sandbox')
  const chain = new Chain(evidence, { focus: [] })
  const { withHints, saysUnasked, ...failed } = ending
  const { message = '', said, waits, standstill } = failed
  const { proven, hints, details } = causesOf(evidence, { chain, isMissing: true, mayRepeat: () => true, ...failed })
  // If the test was waiting, or a request of the app was rejected, this explains the failure. Then do not report that
  // the app did not use the sandbox.
  const isAtWork = waits !== undefined || (standstill !== undefined && hints.includes(standstill))
  const isSaid = isAtWork || saysUnasked === true || sandboxOf(evidence).refused.length > 0
  const asked = isSaid ? [] : unasked(evidence)
  const head: FailureData = {
    causes: [...proven, ...asked]
      .filter((note) => said?.has(note) !== true && !message.includes(note))
      .slice(0, maxNotes)
      .map(withOneStop),
    hints: withHints === true ? hints.map(withOneStop) : [],
    ...wayBack(evidence, undefined, place),
  }
  if (chain.isEmpty) return head
  const above = [head.causes, head.hints].flatMap((lines = []) => (lines.length > 0 ? [...lines, ''] : []))
  const named = namedIn([message, ...(said ?? []), ...above])
  return { ...head, timeline: chain.lines(maxLines - above.length - 2, named, details) }
}

/** Returns a message with one stop. A message may end with an error of the app, which has its own stop. */
function withOneStop(message: string): string {
  return message.replace(/(?<!\.)([.!?])\.$/, '$1')
}

/** Returns a hint if the app did not use the sandbox. */
function unasked({ entries, received }: MatcherInput): string[] {
  const { policy } = received as { readonly policy?: { readonly maxTrafficEntries?: number } }
  // Without a log, nothing is known about the app's use of the sandbox.
  if (policy?.maxTrafficEntries === 0 || entries.some((entry) => !isPreparing(entry))) return []
  const lead = entries.length === 0 ? 'The app did not use this sandbox' : 'Only the test itself used this sandbox'
  return [
    `${lead}: no request reached the sandbox and no message was published. Give the app sandbox.env or sandbox.fetch. If a module creates a client when it is imported, call useSandbox() in a setup file.`,
  ]
}

/**
 * Returns whether only the test itself can have caused the entry. A command over a connection may come from the app,
 * and so may a dropped entry.
 */
function isPreparing(entry: Entry): boolean {
  return preparing.has(entry.type) && (entry.type !== 'command' || entry.via === 'direct')
}

const preparing: ReadonlySet<string> = new Set(['command', 'keyspace', 'clock', 'setting'])

/** Returns the `seq` of every entry that the lines mention, such as 17 for `#17`. */
function namedIn(lines: readonly string[]): number[] {
  const named = lines.flatMap((line) => [...line.matchAll(/#(\d+)\b/g)].map(([, seq]) => Number(seq)))
  return [...new Set(named)]
}

/**
 * Returns the first parts that fit completely into `room` lines. If even the first part is too long, returns its
 * beginning.
 */
function fitting(parts: readonly (readonly string[])[], room: number): string[] {
  const [first = [], ...others] = parts
  const shown = first.length <= room ? [...first] : cutTo(first, Math.max(room, 3))
  for (const part of others) {
    if (shown.length + part.length > room) break
    shown.push(...part)
  }
  return shown
}

/** Shortens a call of many lines to its first lines and its last line. */
function squeezed(call: string): string[] {
  const lines = call.split('\n')
  if (lines.length <= maxOfCall) return lines
  return [...lines.slice(0, maxOfCall - 2), '  …', lines.at(-1)!]
}

/** Shortens the lines of a comparison. Lines that are equal on both sides are removed first. */
function cutTo(all: readonly string[], most: number): string[] {
  const lines = all.filter((line) => line !== '' && !/^ {12}/.test(line))
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), `      … ${lines.length - most + 1} more lines`]
}

/** Minimum number of lines of a timeline: one entry, its date, and the lines about omitted entries. */
const fewestLines = 5

/**
 * Returns a report and a timeline of the entries that the text above names, because the report has no entry numbers.
 * The timeline gets the lines that the report does not need. If causes name entries, it gets at least half of all
 * lines.
 */
function storyWith(
  story: string,
  most: number,
  evidence: MatcherInput,
  causes: readonly number[],
  candidates: readonly number[],
): string[] {
  const free = most - story.split('\n').length - 1
  const room = causes.length === 0 ? free : Math.max(free, Math.floor(most / 2))
  const named = [...new Set([...causes, ...candidates])]
  if (named.length === 0 || room < fewestLines) return shortened(story, most)
  const chain = new Chain(evidence, { focus: [], shown: () => false })
  const lines = chain.lines(room, named, [])
  return [...shortened(story, most - lines.length - 1), '', ...lines]
}

/** Shortens a report to its first and last lines. The step that failed is usually in one of these parts. */
function shortened(story: string, most: number): string[] {
  const lines = story.split('\n')
  if (lines.length <= most) return lines
  const end = Math.floor(most / 3)
  const start = most - end - 1
  return [
    ...lines.slice(0, start),
    `  … ${lines.length - start - end} more: sandbox.traffic.timeline()`,
    ...lines.slice(lines.length - end),
  ]
}

function linesOf(failure: FailureData): string[] {
  const { call, verdict, story } = failureParts(failure)
  return [...call, ...verdict, ...story]
}

/**
 * Returns how to replay the test. Returns `undefined` if there is neither a log nor a seed, as for a single received
 * request.
 */
export function wayBack(
  evidence: MatcherInput,
  seq: number | undefined,
  place: TestLocation | undefined,
): Pick<FailureData, 'replay' | 'notes'> | undefined {
  const { seed } = evidence.context
  if (evidence.entries.length === 0 && seed === undefined) return undefined
  if (place !== undefined) return { replay: replayCommand(place, seed) }
  const parts = [seed !== undefined && `seed ${seed}`, seq !== undefined && `entry ${seq}`].filter(Boolean)
  return parts.length === 0 ? { notes: ['No entries.'] } : { replay: parts.join(', ') }
}
