import type { FailureData } from './failure.js'
import { withoutColors } from './safe-text.js'

/** The lines of a failure in three parts. They are printed in this order. */
interface FailureParts {
  readonly call: readonly string[]
  readonly verdict: readonly string[]
  /** Replay instruction and timeline. */
  readonly story: readonly string[]
}

/** Returns the failure of a matcher in parts. */
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

/** Returns the part of a failure that states what failed and why, without the call and the timeline. */
export function verdictText(failure: FailureData): string {
  return verdictOf({ ...failure, notes: [] }).join('\n')
}

/** Returns the text that is appended to the message of another assertion: all parts, separated by blank lines. */
export function addedText(failure: FailureData): string {
  const { causes = [], hints = [], timeline = [] } = failure
  const parts = [causes, hintLines(hints), replayLines(failure.replay), timeline]
  return parts.flatMap((part) => (part.length === 0 ? [] : [part.join('\n')])).join('\n\n')
}

/** Returns a message without terminal colors and without its timeline. Pages show the timeline in their own format. */
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

/** Returns the index of the line at which the timeline begins, or -1 if the message has no timeline. */
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

/** Returns lines with the replay instruction, or none. */
export function replayLines(replay: string | undefined): string[] {
  return replay === undefined ? [] : [`Replay: ${replay}`]
}
