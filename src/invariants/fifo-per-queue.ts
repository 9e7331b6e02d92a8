import { plural } from '../kernel/plural.js'
import { ClockHistory, RemainingCalls } from './clock-history.js'
import type { Findings, Invariant } from './invariant.js'
import { type CheckedMessage, endOfLifecycle, type InvariantIndex, wasCancelled } from './invariant-index.js'

export const fifoPerQueue: Invariant = {
  name: 'fifo-per-queue',
  guarantee:
    'A FIFO queue starts its messages in the order of publishing. A started message holds a slot until the message and its callbacks have ended. The number of slots is the parallelism of the queue.',
  suspendedBy: {
    reorder: 'for the affected message',
    restart: 'for messages with an attempt that the restart cut off',
  },
  examine(history, findings) {
    const lines = linesOf(history)
    if (lines.length === 0) return
    const ends = endsWithCallbacks(history)
    for (const line of lines) walk(line, ends, (story) => history.struck(story.id, this.suspendedBy), findings)
  },
}

/**
 * Lifetime of a FIFO queue, from its creation to its deletion. A deleted queue that is created again counts as another
 * queue.
 */
interface Line {
  readonly name: string
  readonly stories: CheckedMessage[]
  readonly parallelism: ClockHistory
}

function linesOf({ world, stories, isWhole }: InvariantIndex): readonly Line[] {
  const lines: Line[] = []
  const open = new Map<string, Line>()
  let isKnown = isWhole
  const lineOf = (name: string): Line => {
    let line = open.get(name)
    if (line === undefined) {
      // The parallelism of a queue is unknown if it was set by a dump or by an entry that the log has dropped.
      line = { name, stories: [], parallelism: new ClockHistory(isKnown ? 1 : Number.POSITIVE_INFINITY) }
      open.set(name, line)
      lines.push(line)
    }
    return line
  }
  for (const entry of world.entries) {
    if (entry.type === 'published' && entry.queue !== undefined && !entry.deduplicated) {
      lineOf(entry.queue).stories.push(stories.get(entry.seq)!)
    } else if (entry.type === 'setting') {
      if (entry.resource === 'service') {
        open.clear()
        isKnown &&= entry.change === 'reset'
      } else if (entry.resource === 'queue' && entry.change === 'deleted') open.delete(entry.name)
      else if (entry.resource === 'queue' && entry.change === 'set') {
        lineOf(entry.name).parallelism.set(entry.seq, Number(entry.value?.parallelism))
      }
    }
  }
  return lines.filter((line) => line.stories.length > 0)
}

/**
 * Returns a log position for each message, by the `seq` of its entry. At this position, the message and all its
 * callbacks had ended.
 */
function endsWithCallbacks({ stories }: InvariantIndex): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  // Iterate backward: the end of a callback must be known before the end of its message, and a callback is published
  // later.
  for (const story of [...stories.values()].reverse()) {
    let end = leaveOf(story)
    for (const { seq } of story.callbacks) end = Math.max(end, ends.get(seq) ?? end)
    ends.set(story.published.seq, end)
  }
  return ends
}

/**
 * Returns the log position from which a message no longer blocks later messages of its queue. This position is the end
 * of the message, or the cancel request if the message never had an attempt.
 */
function leaveOf(story: CheckedMessage): number {
  const never = story.attempts.length === 0
  const cancelled = never && story.changes.find((change) => change.state === 'CANCEL_REQUESTED')
  return cancelled ? cancelled.seq : endOfLifecycle(story)
}

function walk(
  { name, stories, parallelism }: Line,
  ends: ReadonlyMap<number, number>,
  isExcused: (story: CheckedMessage) => boolean,
  findings: Findings,
): void {
  const leaving = stories
    .map((story, index) => ({ index, at: ends.get(story.published.seq)! }))
    .sort((one, other) => one.at - other.at)
  const starting = stories
    .map((story, index) => ({ story, index, at: story.attempts[0]?.seq ?? Number.POSITIVE_INFINITY }))
    .filter(({ at }) => at !== Number.POSITIVE_INFINITY)
    .sort((one, other) => one.at - other.at)
  const remaining = new RemainingCalls(stories.length)
  let left = 0
  for (const { story, index, at } of starting) {
    while (left < leaving.length && leaving[left]!.at <= at) remaining.leave(leaving[left++]!.index)
    const ahead = remaining.before(index)
    const allowed = parallelism.highestSince(story.published.seq)
    if (ahead < allowed || isExcused(story) || wasCancelled(story, at)) continue
    const first = stories.find((other, place) => place < index && ends.get(other.published.seq)! > at)
    findings.broken(
      `queue ${name} has ${plural(allowed, 'slot')}, but ${story.id} was started while ${plural(ahead, 'earlier message')} had not ended`,
      first?.published,
      first?.attempts[0],
      story.published,
      story.attempts[0],
    )
  }
}
