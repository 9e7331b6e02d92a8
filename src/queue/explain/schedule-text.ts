import { shownUrl } from '../../secrets/urls.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Schedule } from '../schedules/schedule.js'
import { noSuch } from './subjects.js'
import { timeText } from './time-text.js'

/** Maximum number of fire times in the text. */
const maxSlots = 3

/**
 * Explains when a schedule fires next, and which fire times it skips because of a pause or because clocks are set
 * forward.
 */
export function scheduleText(queue: QueueEngine, id: string): string {
  const schedule = queue.schedules.get(id)
  if (schedule === undefined)
    return noSuch(
      'schedule',
      id,
      queue.schedules.list().map((other) => other.id),
    )
  const { lastTime, error, draft } = schedule
  const what = `Schedule ${id} (${draft.cron}) publishes to ${shownUrl(schedule.destination)}`
  const last = lastTime === undefined ? ' It has not fired yet.' : ` It last fired at ${timeText(lastTime)}.`
  const refused = error === undefined ? '' : ` Its last firing was rejected: ${error.replace(/\.$/, '')}.`
  return `${what}. ${slotsText(queue, schedule)}${last}${refused}`
}

function slotsText(queue: QueueEngine, schedule: Schedule): string {
  const { nextTime, timer } = schedule
  if (nextTime === undefined || timer === undefined) return 'It has no further fire time.'
  const now = queue.now()
  // The next fire time may have passed while the sandbox was saved. The schedule then fires immediately.
  const slots = [Math.max(nextTime, now)]
  while (slots.length < maxSlots) {
    const next = schedule.cron.next(slots.at(-1)!)
    if (next === undefined) break
    slots.push(next)
  }
  const gaps = schedule.cron
    .gaps(now, slots.at(-1)!)
    .map(
      ({ at, zone, from, to }) =>
        ` The fire time ${timeText(at)} is skipped, because the clocks of ${zone} are set forward from ${from} to ${to}.`,
    )
  const times = slots.map(timeText).join(', ')
  if (!schedule.paused) return `Its next fire times are ${times}.${gaps.join('')}`
  const entry = schedule.pauseTrail === undefined ? undefined : queue.traffic.get(schedule.pauseTrail)
  const since = entry === undefined ? '' : ` since ${timeText(entry.at)}`
  return `It is paused${since}: its next fire times, ${times}, pass without a message until it is resumed.${gaps.join('')}`
}
