import type { PublishSettings } from '../settings/message-settings.js'
import type { Cause, FifoQueueCopy, ForecastMessage } from './forecast-copies.js'

// Finds the unknown responses and the pauses on which the start of a message depends.

/**
 * Returns the responses that decide how a message affects other messages: its own, or those on which its start depends.
 */
export function decidedBy(item: ForecastMessage): Cause {
  return { kind: 'answer', of: item.cause?.kind === 'answer' ? item.cause.of : [item], first: false }
}

/** Returns the responses that free a slot of a FIFO queue. A canceled message frees its slot without a response. */
export function responsesOf({ holding }: FifoQueueCopy): Cause {
  const all = [...holding].flatMap((item) => (item.isEnded ? item.reports : [item]))
  const of = all.filter((item) => item.state.asked !== 'end' || item.message?.running === true)
  return { kind: 'answer', of, first: of.length === all.length }
}

/** Returns the pause that prevents a message in a FIFO queue from ever getting a slot; `undefined` if there is none. */
export function blockerOf({ lane }: ForecastMessage): Cause | undefined {
  if (lane === undefined) return undefined
  if (lane.paused) return { kind: 'pause', of: 'queue', name: lane.name }
  for (const holder of lane.holding) if (holder.cause?.kind === 'pause') return holder.cause
  return undefined
}

/** Yields the settings of all callbacks that may be published about a message, with the maximum number of each. */
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
