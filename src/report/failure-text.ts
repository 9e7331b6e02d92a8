import type { FailureData } from './failure.js'
import { withoutColours } from './safe-text.js'

/** The lines of a failure in its three parts, which stand below each other. */
interface FailureParts {
  readonly call: readonly string[]
  readonly verdict: readonly string[]
  /** How to come back, and what happened. */
  readonly story: readonly string[]
}

/** The failure of a matcher, part by part. */
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

/** What failed and why, without the call and without the story. */
export function verdictText(failure: FailureData): string {
  return verdictOf({ ...failure, notes: [] }).join('\n')
}

/** What is added to the message of a failure that no matcher has written: its parts, with a blank line between each. */
export function addedText(failure: FailureData): string {
  const { causes = [], hints = [], timeline = [] } = failure
  const parts = [causes, hintLines(hints), replayLines(failure.replay), timeline]
  return parts.flatMap((part) => (part.length === 0 ? [] : [part.join('\n')])).join('\n\n')
}

/** A message without its story, which pages tell in a form of their own. Colours are taken out. */
export function withoutTimeline(message: string, replay: string | undefined): string {
  const plain = withoutColours(message)
  const at = storyAt(plain, replay)
  return (at === -1 ? plain : plain.split('\n').slice(0, at).join('\n')).trim()
}

/** A message with more notes above its story. */
export function withNotes(message: string, { replay }: FailureData, notes: readonly string[]): string {
  const at = storyAt(withoutColours(message), replay)
  return at === -1
    ? message
    : message
        .split('\n')
        .toSpliced(at, 0, ...notes)
        .join('\n')
}

/** The line of a message with which its story begins; -1 where it has none. */
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

/** The line that says how to come back. */
export function replayLines(replay: string | undefined): string[] {
  return replay === undefined ? [] : [`Replay: ${replay}`]
}
