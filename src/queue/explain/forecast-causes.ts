import type { PublishSettings } from '../settings/message-settings.js'
import type { Cause, FifoQueueCopy, ForecastMessage } from './forecast-copies.js'

// Functions that find the cause of an unknown start time: the responses or the pause on which it depends.

/**
 * Returns the responses that decide what a message does to other messages. If the start of the message depends on other
 * responses, those decide. Otherwise its own response decides.
 */
export function decidedBy(item: ForecastMessage): Cause {
  return { kind: 'answer', of: item.cause?.kind === 'answer' ? item.cause.of : [item], first: false }
}

/**
 * Returns the responses after which a FIFO queue has a free slot. A canceled message needs no response to free its
 * slot.
 */
export function responsesOf({ holding }: FifoQueueCopy): Cause {
  const all = [...holding].flatMap((item) => (item.isEnded ? item.reports : [item]))
  const of = all.filter((item) => item.state.asked !== 'end' || item.message?.running === true)
  return { kind: 'answer', of, first: of.length === all.length }
}

/**
 * Returns the pause because of which a message never gets a slot of its FIFO queue. Returns `undefined` if no pause
 * prevents this.
 */
export function blockerOf({ lane }: ForecastMessage): Cause | undefined {
  if (lane === undefined) return undefined
  if (lane.paused) return { kind: 'pause', of: 'queue', name: lane.name }
  for (const holder of lane.holding) if (holder.cause?.kind === 'pause') return holder.cause
  return undefined
}

/** Yields the settings of each callback that a message may send, and how many of these callbacks there can be. */
export function* reportsOf(
  { callback, failureCallback }: PublishSettings,
  attempts: number,
): Generator<readonly [PublishSettings, times: number]> {
  for (const [report, times] of [
    [callback, attempts],
    [failureCallback, 1],
  ] as const) {
    if (report === undefined) continue
    yield [report.settings, times]
    for (const [further, more] of reportsOf(report.settings, report.settings.retries + 1)) yield [further, more * times]
  }
}
