import type { Entry } from '../../src/kernel/traffic-log.js'
import type { FailureData } from '../../src/report/failure.js'
import { failureParts } from '../../src/report/failure-text.js'
import { evidenceOf, type MatcherInput } from '../received.js'
import { Chain, type Subject } from './chain.js'
import { causesOf, type Failed } from './failure-causes.js'
import { sandboxOf } from './sandbox-facts.js'
import { replayCommand, type TestLocation } from './test-location.js'

/** Maximum lines of a failure, and of the part above its timeline. */
const maxLines = 40
const maxAbove = 15
const maxHints = 4
const maxOfCall = 6
const maxNotes = 8

/** Result of a matcher, from which its failure is composed. All texts are safe to print. */
export interface MatcherFinding extends Subject {
  readonly evidence: MatcherInput
  readonly place: TestLocation | undefined
  /** `expect(queue).toHaveDelivered({ … })`. */
  readonly call: string
  /** Text about what was expected. */
  readonly expected: string
  /** Received values, nearest first. Parts that exceed the maximum are left out, and the first one is shortened. */
  readonly parts: readonly (readonly string[])[]
  /** Hints for typical mistakes, the most likely one first. */
  readonly hints?: readonly string[]
  /** Whether something is missing, which dead letters may explain. */
  readonly isMissing?: boolean
  /** Returns whether several attempts that caused this entry would explain the failure; always `false` by default. */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** Whether the failure is about something that exists and should not, or exists too often. */
  readonly isUnwanted?: boolean
  /** Whether the failure itself lists unused faults. */
  readonly tellsUnused?: boolean
  /** Line above the timeline. */
  readonly lead?: string
  /** Replaces the timeline at the end of the failure. */
  readonly story?: string | undefined
}

/**
 * Composes a failure of at most 40 lines, of which at most 15 are above the timeline: proven causes, what was expected
 * and received, hints, the command that replays the test, and the timeline.
 */
export function composeFailure(finding: MatcherFinding): FailureData {
  const { evidence, call, expected, parts, place, focus } = finding
  const chain = new Chain(evidence, finding)
  const { proven, hints, details } = causesOf(evidence, { ...finding, chain })
  const way = wayBack(evidence, focus[0], place)
  const head: FailureData = {
    call: squeezed(call),
    causes: proven,
    expected,
    hints: hints.filter((hint) => !proven.includes(hint)).slice(0, maxHints),
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

/** A test that failed for another reason than a matcher, or because of what it left behind. */
interface TestEnding extends Pick<Failed, 'message' | 'said' | 'waits' | 'standstill'> {
  /** Whether hints are included. */
  readonly withHints?: boolean
  /** Whether the failure already states that no request reached the sandbox. */
  readonly saysUnasked?: boolean
}

/**
 * Composes what the sandbox adds to a test that failed without a matcher: causes, whether the app used the sandbox, the
 * command that replays the test, and the timeline.
 */
export function composeEnding(received: object, place: TestLocation | undefined, ending: TestEnding): FailureData {
  const evidence = evidenceOf('story', received, 'sandbox')
  const chain = new Chain(evidence, { focus: [] })
  const { withHints, saysUnasked, ...failed } = ending
  const { message = '', said, waits, standstill } = failed
  const { proven, hints, details } = causesOf(evidence, { chain, isMissing: true, mayRepeat: () => true, ...failed })
  // A test that waits, and an app whose requests were rejected, have another cause.
  const isAtWork = waits !== undefined || (standstill !== undefined && hints.includes(standstill))
  const isSaid = isAtWork || saysUnasked === true || sandboxOf(evidence).refused.length > 0
  const asked = isSaid ? [] : unasked(evidence)
  const head: FailureData = {
    causes: [...proven, ...asked]
      .filter((note) => said?.has(note) !== true && !message.includes(note))
      .slice(0, maxNotes),
    hints: withHints === true ? hints : [],
    ...wayBack(evidence, undefined, place),
  }
  if (chain.isEmpty) return head
  const above = [head.causes, head.hints].flatMap((lines = []) => (lines.length > 0 ? [...lines, ''] : []))
  const named = namedIn([message, ...(said ?? []), ...above])
  return { ...head, timeline: chain.lines(maxLines - above.length - 2, named, details) }
}

/** Returns a hint when the app did not use the sandbox. */
function unasked({ entries, received }: MatcherInput): string[] {
  const { policy } = received as { readonly policy?: { readonly maxTrafficEntries?: number } }
  // Without a log, the use of the sandbox is unknown.
  if (policy?.maxTrafficEntries === 0 || entries.some((entry) => !isPreparing(entry))) return []
  const lead = entries.length === 0 ? 'The app did not use this sandbox' : 'Only the test itself used this sandbox'
  return [
    `${lead}: no request reached it and no message was published. Give the app sandbox.env or sandbox.fetch; a client that a module creates on import needs useSandbox() in a setup file.`,
  ]
}

/** Returns whether the test itself made the entry. Commands over a connection and dropped entries may be the app's. */
function isPreparing(entry: Entry): boolean {
  return preparing.has(entry.type) && (entry.type !== 'command' || entry.via === 'direct')
}

const preparing: ReadonlySet<string> = new Set(['command', 'keyspace', 'clock', 'setting'])

/** Returns the `seq` of the entries that lines name, such as `#17`. */
function namedIn(lines: readonly string[]): number[] {
  const named = lines.flatMap((line) => [...line.matchAll(/#(\d+)\b/g)].map(([, seq]) => Number(seq)))
  return [...new Set(named)]
}

/** Returns as many whole parts as fit, and at least the start of the first part. */
function fitting(parts: readonly (readonly string[])[], room: number): string[] {
  const [first = [], ...others] = parts
  const shown = first.length <= room ? [...first] : cutTo(first, Math.max(room, 3))
  for (const part of others) {
    if (shown.length + part.length > room) break
    shown.push(...part)
  }
  return shown
}

/** Shortens a call with many lines to its start and its end. */
function squeezed(call: string): string[] {
  const lines = call.split('\n')
  if (lines.length <= maxOfCall) return lines
  return [...lines.slice(0, maxOfCall - 2), '  …', lines.at(-1)!]
}

/** Shortens compared lines. Lines that are equal on both sides are removed first. */
function cutTo(all: readonly string[], most: number): string[] {
  const lines = all.filter((line) => line !== '' && !/^ {12}/.test(line))
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), `      … ${lines.length - most + 1} more lines`]
}

/** Minimum lines for an entry with its date and the lines about entries that are left out. */
const fewestLines = 5

/**
 * Returns a report without entry numbers, followed by the entries that the text above names. Entries of causes get up to
 * half of the lines; entries of candidates get what the report leaves.
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

/** Shortens a report to its start and its end, because the failing step is at one of them. */
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

/** Returns the lines above the timeline, including the replay command. */
function linesOf(failure: FailureData): string[] {
  const { call, verdict, story } = failureParts(failure)
  return [...call, ...verdict, ...story]
}

/** Returns how to replay the test; `undefined` for a request without a log. */
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
