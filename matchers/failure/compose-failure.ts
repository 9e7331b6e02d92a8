import type { Entry } from '../../src/kernel/traffic-log.js'
import type { FailureData } from '../../src/report/failure.js'
import { failureParts } from '../../src/report/failure-text.js'
import { evidenceOf, type MatcherInput } from '../received.js'
import { Chain, type Subject } from './chain.js'
import { causesOf, type Failed } from './failure-causes.js'
import { sandboxOf } from './sandbox-facts.js'
import { replayCommand, type TestLocation } from './test-location.js'

/** Lines of a whole failure, and of what stands above its story. */
const maxLines = 40
const maxAbove = 15
const maxHints = 4
const maxOfCall = 6
const maxNotes = 8

/** What a matcher found, from which its failure is composed. All texts are safe to print. */
export interface MatcherFinding extends Subject {
  readonly evidence: MatcherInput
  readonly place: TestLocation | undefined
  /** `expect(queue).toHaveDelivered({ … })`. */
  readonly call: string
  /** What was expected, in a sentence. */
  readonly expected: string
  /** What there was instead, nearest first: parts that do not fit are left out, and the first one is cut. */
  readonly parts: readonly (readonly string[])[]
  /** Sentences for typical mistakes, the most telling one first. */
  readonly hints?: readonly string[]
  /** Something is missing that dead letters may explain. */
  readonly isMissing?: boolean
  /** Whether it would explain the failure that several attempts did this, or what this one did; nothing would by default. */
  readonly mayRepeat?: ((entry: Entry) => boolean) | undefined
  /** It is about something that is there, and should not be, or not so often. */
  readonly isUnwanted?: boolean
  /** The failure itself is about what is left, unused faults included. */
  readonly tellsUnused?: boolean
  /** A sentence above the timeline. */
  readonly lead?: string
  /** The end of the failure instead of a timeline. */
  readonly story?: string | undefined
}

/**
 * A failure of at most 40 lines, of which 15 stand above the story: the causes that the log proves, what was expected and
 * what came instead, hints, the way back, and the chain of what happened.
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

/** A test that fails for a reason of its own, or for what it has left behind. */
interface TestEnding extends Pick<Failed, 'message' | 'said' | 'waits' | 'standstill'> {
  /** Whether hints are given, too. */
  readonly withHints?: boolean
  /** It has been said already that nothing asked the sandbox. */
  readonly saysUnasked?: boolean
}

/**
 * What a world has to say about a test that no matcher failed: its causes, that nothing asked it; then how to run the
 * test again, and the story.
 */
export function composeEnding(received: object, place: TestLocation | undefined, ending: TestEnding): FailureData {
  const evidence = evidenceOf('story', received, 'sandbox')
  const chain = new Chain(evidence, { focus: [] })
  const { withHints, saysUnasked, ...failed } = ending
  const { message = '', said, waits, standstill } = failed
  const { proven, hints, details } = causesOf(evidence, { chain, isMissing: true, mayRepeat: () => true, ...failed })
  // Who waits, and an app whose requests were refused, need something else.
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

/** Whether the code under test did anything here, told when it did not. */
function unasked({ entries, received }: MatcherInput): string[] {
  const { policy } = received as { readonly policy?: { readonly trafficLimit?: number } }
  // Without a log nobody knows.
  if (policy?.trafficLimit === 0 || entries.some((entry) => !isPreparing(entry))) return []
  const who = entries.length === 0 ? 'Nothing asked this sandbox' : 'Only the test itself used this sandbox'
  return [
    `${who}: no request reached it and no message was published. The code under test finds it with sandbox.env or sandbox.fetch; a client that a module makes as it loads needs useSandbox() in a setup file.`,
  ]
}

/** Whether the test did it to prepare. A command over a connection is a request of the app, and so may be what was dropped. */
function isPreparing(entry: Entry): boolean {
  return preparing.has(entry.type) && (entry.type !== 'command' || entry.via === 'direct')
}

const preparing: ReadonlySet<string> = new Set(['command', 'keyspace', 'clock', 'setting'])

/** `seq` of the entries that lines name, as `#17`. */
function namedIn(lines: readonly string[]): number[] {
  const named = lines.flatMap((line) => [...line.matchAll(/#(\d+)\b/g)].map(([, seq]) => Number(seq)))
  return [...new Set(named)]
}

/** Whole parts as long as there is room; of the first one at least its beginning. */
function fitting(parts: readonly (readonly string[])[], room: number): string[] {
  const [first = [], ...others] = parts
  const shown = first.length <= room ? [...first] : cutTo(first, Math.max(room, 3))
  for (const part of others) {
    if (shown.length + part.length > room) break
    shown.push(...part)
  }
  return shown
}

/** A pattern of many fields is known to who wrote it: its beginning and its end. */
function squeezed(call: string): string[] {
  const lines = call.split('\n')
  if (lines.length <= maxOfCall) return lines
  return [...lines.slice(0, maxOfCall - 2), '  …', lines.at(-1)!]
}

/** Of lines that are compared those go first that are equal on both sides. */
function cutTo(all: readonly string[], most: number): string[] {
  const lines = all.filter((line) => line !== '' && !/^ {12}/.test(line))
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 1), `      … ${lines.length - most + 1} more lines`]
}

/** Fewer lines hold no entry with its date and what is left out around it. */
const fewestLines = 5

/**
 * A story of another kind, and below it the entries that the text above names, which it does not number: those of causes
 * in up to half of the lines, candidates where it leaves room.
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

/** Its beginning and its end: what failed stands there. */
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

/** What stands above the story, with the line that says how to come back. */
function linesOf(failure: FailureData): string[] {
  const { call, verdict, story } = failureParts(failure)
  return [...call, ...verdict, ...story]
}

/** What it takes to come back to this place; `undefined` for a request that was taken out of its log. */
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
