import type { FailureData } from './failure.js'
import { withoutColors } from './safe-text.js'

/** The lines of a failure in three parts, which are printed in this order. */
interface FailureParts {
  readonly call: readonly string[]
  readonly verdict: readonly string[]
  readonly story: readonly string[]
}

export function failureParts({ call = [], ...failure }: FailureData): FailureParts {
  const { timeline = [] } = failure
  return {
    call: call.length === 0 ? [] : [...call, ''],
    verdict: verdictOf(failure),
    story: [...replayLines(failure.replay), ...(timeline.length === 0 ? [] : ['', ...timeline])],
  }
}

export function failureText(failure: FailureData): string {
  const { call, verdict, story } = failureParts(failure)
  return [...call, ...verdict, ...story].join('\n')
}

/** Returns what failed and why, without the matcher's call and without the timeline. */
export function verdictText(failure: FailureData): string {
  return verdictOf({ ...failure, notes: [] }).join('\n')
}

/**
 * Returns the text that is added to the failure message of another assertion. Blank lines separate the causes, the
 * hints, the replay line and the timeline.
 */
export function addedText(failure: FailureData): string {
  const { causes = [], hints = [], timeline = [] } = failure
  const parts = [causes, hintLines(hints), replayLines(failure.replay), timeline]
  return parts.flatMap((part) => (part.length === 0 ? [] : [part.join('\n')])).join('\n\n')
}

/** Removes terminal colors and the timeline from a message. HTML pages show the timeline in their own format. */
export function withoutTimeline(message: string, replay: string | undefined): string {
  const plain = withoutColors(message)
  const at = storyAt(plain, replay)
  return (at === -1 ? plain : plain.split('\n').slice(0, at).join('\n')).trim()
}

/** Inserts notes into a message, above its timeline. */
export function withNotes(message: string, { replay }: FailureData, notes: readonly string[]): string {
  const at = storyAt(withoutColors(message), replay)
  return at === -1
    ? message
    : message
        .split('\n')
        .toSpliced(at, 0, ...notes)
        .join('\n')
}

/** Returns the index of the replay line, with which the timeline begins. Returns -1 if the message has none. */
function storyAt(message: string, replay: string | undefined): number {
  return message.split('\n').findIndex((line) => replayLines(replay).includes(line))
}

function verdictOf({ causes = [], expected, received = [], hints = [], notes = [] }: FailureData): string[] {
  return [
    ...(causes.length === 0 ? [] : [...causes, '']),
    ...(expected === undefined ? [] : [expected]),
    ...received,
    ...(hints.length === 0 ? [] : ['', ...hintLines(hints)]),
    ...notes,
  ]
}

function hintLines(hints: readonly string[]): string[] {
  return hints.map((hint) => `Hint: ${hint}`)
}

/** Returns a list that contains the line with the replay instruction. Without an instruction, the list is empty. */
export function replayLines(replay: string | undefined): string[] {
  return replay === undefined ? [] : [`Replay: ${replay}`]
}

/** Returns whether a line of a stack is one of its frames, which ends with a location. */
export function isFrame(line: string): boolean {
  return /^\s+at /.test(line) && /:\d+:\d+\)?$/.test(line)
}
