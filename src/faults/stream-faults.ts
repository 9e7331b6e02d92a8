import { type Duration, formatDuration, milliseconds } from '../kernel/duration.js'
import { plural } from '../kernel/plural.js'
import { cutEvents, stalledEvents } from './broken-streams.js'
import type { FaultOf, StreamFault } from './fault.js'
import type { FaultGroup } from './fault-spec.js'
import { optional, milliseconds as span, whole } from './fault-values.js'
import { unread } from './shared-effects.js'

// Faults of event streams.

/**
 * Breaks an event stream after `afterEvents` events.
 * @example sandbox.faults.add({ on: 'stream.open', times: 1, fault: fault.cutStream(2) })
 */
export function cutStream(afterEvents: number): FaultOf<'cut-stream'> {
  return { kind: 'cut-stream', afterEvents }
}

/**
 * Stalls an event stream after `afterEvents` events. The stream stays open, and later events are sent when the stall
 * ends.
 * @param length duration of the stall; without it, the stall never ends
 * @example sandbox.faults.add({ on: 'stream.open', fault: fault.stallStream(1, '30s') })
 */
export function stallStream(afterEvents: number, length?: Duration): FaultOf<'stall-stream'> {
  return length === undefined
    ? { kind: 'stall-stream', afterEvents }
    : { kind: 'stall-stream', afterEvents, forMs: milliseconds(length) }
}

const rows: FaultGroup<never, StreamFault> = {
  'cut-stream': {
    summary: 'The event stream breaks off after `afterEvents` events.',
    effect: 'shapes',
    sentence: ({ afterEvents }) => `the stream breaks off after ${plural(afterEvents, 'event')}`,
    made: { cutStream },
    phases: ['after'],
    fields: { afterEvents: whole(0) },
    sample: [2],
    shownAt: 'stream.open',
    instead: {
      msw: 'the stream ends as if it were complete, because msw cannot signal an interrupted body',
      nock: 'no effect, because nock does not support event streams',
      playwright: unread,
    },
    at: { 'stream.open': async ({ afterEvents }, moment) => cutEvents(await moment.onwards(), afterEvents) },
  },
  'stall-stream': {
    summary:
      'The event stream stalls after `afterEvents` events, for `forMs` or forever. Events that it holds are sent when the stall ends.',
    effect: 'shapes',
    sentence({ afterEvents, forMs }) {
      const wait = forMs === undefined ? '' : ` for ${formatDuration(forMs)}`
      return `the stream stalls after ${plural(afterEvents, 'event')}${wait}`
    },
    made: { stallStream },
    phases: ['after'],
    fields: { afterEvents: whole(0), forMs: optional(span) },
    sample: [1, '30s'],
    shownAt: 'stream.open',
    instead: { nock: 'no effect, because nock does not support event streams' },
    at: {
      'stream.open': async ({ afterEvents, forMs }, moment) =>
        stalledEvents(await moment.onwards(), afterEvents, forMs, moment.clock),
    },
  },
}
export default rows
