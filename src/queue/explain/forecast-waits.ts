import { formatDuration } from '../../kernel/duration.js'
import { plural } from '../../kernel/plural.js'
import type { EntryOf, SettingEntry } from '../../kernel/traffic-log.js'
import type { FlowKey } from '../delivery/flow-key.js'
import { retryWait } from '../delivery/retry.js'
import type { FifoQueue } from '../message/fifo-queue.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import { listed, timeText } from './time-text.js'

// Texts that say what messages, FIFO queues and flow-control keys wait for.

/**
 * Returns the slots of a FIFO queue as text: `2 of 2 slots used by msg_1 (being delivered), msg_2 (retry 1 of 3 at …)`.
 */
export function slotsText(queue: QueueEngine, lane: FifoQueue<Message>): string {
  const holders = [...lane.holding].map((holder) => `${holder.id} (${holderText(queue, lane, holder)})`)
  const used = `${lane.holding.size} of ${plural(lane.parallelism, 'slot')} used`
  return holders.length === 0 ? used : `${used} by ${listed(holders)}`
}

function holderText(queue: QueueEngine, lane: FifoQueue<Message>, holder: Message): string {
  const { settings, delivery } = holder
  if (holder.isEnded) return 'its callbacks have not ended'
  if (holder.running) return holder.retried === 0 ? 'being delivered' : `being delivered, ${turn(holder)}`
  if (holder.cancelRequested) return `canceled, ends at ${timeText(holder.nextAttemptAt)}`
  if (delivery.is === 'held') {
    const key = settings.flowControl?.key
    return key === undefined
      ? 'waiting, because the plan allows no further delivery in flight'
      : `waiting for flow-control key ${key}`
  }
  if (lane.paused && delivery.is === 'parked') return 'due, held until the queue is resumed'
  return `waiting until ${timeText(holder.nextAttemptAt)} for ${turn(holder)}${worst(queue, holder)}`
}

/** Returns the current or next attempt of a message as text: `its first attempt`, `retry 1 of 3`. */
export function turn(message: Message): string {
  return message.retried === 0 ? 'its first attempt' : `retry ${message.retried} of ${message.maxRetries}`
}

/**
 * Returns text that says until when a message may keep its slot: the time of its last retry if all retries fail
 * immediately.
 */
function worst({ policy }: QueueEngine, { retried, maxRetries, nextAttemptAt: due, settings }: Message): string {
  if (retried === 0) return ''
  if (retried >= maxRetries) return ', its last'
  // Add at most `maxCounted` delays. Later retries are days apart, so their exact time is of no interest.
  const counts = Math.min(maxRetries, retried + maxCounted)
  let at = due
  for (let n = retried; n < counts; n++) at += retryWait(n, settings.retryDelay, [], at, policy, '').delay
  const last = counts === maxRetries ? 'the last' : `number ${counts}`
  return `; if all retries fail immediately, ${last} is at ${timeText(at)}`
}

const maxCounted = 100

/** Returns one text for each reason why a key admits no message now. Empty if the key admits messages. */
export function limitsText(queue: QueueEngine, key: FlowKey): string {
  const reasons: string[] = []
  if (key.paused) reasons.push(`it is paused${pausedSince(queue, 'flow-control', key.key)}`)
  if (key.parallelismMax !== undefined && key.parallelismCount >= key.parallelismMax) {
    const users = listed([...key.running].map((holder) => holder.id))
    reasons.push(`${key.parallelismCount} of ${plural(key.parallelismMax, 'slot')} used by ${users}`)
  }
  const now = queue.now()
  const calls = now >= key.periodEnd() ? 0 : key.rateCount
  if (key.rateMax !== undefined && calls >= key.rateMax) {
    reasons.push(
      `${calls} of ${key.rateMax} calls made in this period of ${key.ratePeriod} s, which ends at ${timeText(key.periodEnd())}`,
    )
  }
  return reasons.join('; ')
}

/** One pause of a FIFO queue or flow-control key: the log entries that began and ended it. */
interface Pause {
  readonly from: EntryOf<'setting'>
  /** Log entry that ended the pause. `undefined` while the pause continues. */
  to?: EntryOf<'setting'>
}

/** Returns the pauses of a FIFO queue or key, oldest first, as far as the traffic log contains them. */
function pausesOf(queue: QueueEngine, of: SettingEntry['resource'], name: string): Pause[] {
  const pauses: Pause[] = []
  for (const entry of queue.traffic.ofType('setting')) {
    if (entry.resource !== of || entry.name !== name) continue
    const last = pauses.at(-1)
    const isPaused = entry.change === 'paused' || entry.value?.paused === true
    const isResumed = entry.change === 'resumed' || entry.value?.paused === false
    if (isPaused && (last === undefined || last.to !== undefined)) pauses.push({ from: entry })
    else if (isResumed && last !== undefined) last.to ??= entry
  }
  return pauses
}

/** Returns ` since 09:00:30` for a pause whose beginning is in the traffic log, otherwise an empty text. */
export function pausedSince(queue: QueueEngine, of: SettingEntry['resource'], name: string): string {
  const last = pausesOf(queue, of, name).at(-1)
  return last === undefined || last.to !== undefined ? '' : ` since ${timeText(last.from.at)}`
}

/**
 * Returns by how much pauses have extended a wait that began at the time `since`: `; the pause from #40 to #52 extended
 * the wait by up to 20s`.
 */
export function pauseCost(queue: QueueEngine, of: SettingEntry['resource'], name: string, since: number): string {
  const over = pausesOf(queue, of, name).filter(({ to }) => to !== undefined && to.at > since)
  const cost = over.reduce((sum, { from, to }) => sum + to!.at - Math.max(from.at, since), 0)
  if (cost === 0) return ''
  const first = `from #${over[0]!.from.seq} to #${over[0]!.to!.seq}`
  const pauses = over.length === 1 ? `the pause ${first}` : `${over.length} pauses, the first ${first},`
  return `; ${pauses} extended the wait by up to ${formatDuration(cost)}`
}
