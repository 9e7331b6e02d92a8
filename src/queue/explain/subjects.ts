import { didYouMean, nearestName } from '../../kernel/nearest-name.js'
import { plural } from '../../kernel/plural.js'
import { shownUrl } from '../../secrets/urls.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import { forecastsOf } from './forecast.js'
import { forecastText } from './forecast-text.js'
import { limitsText, pausedSince, slotsText } from './forecast-waits.js'
import { quoted, timeText } from './time-text.js'

// Explains FIFO queues, flow-control keys and deduplication IDs as text.

/** Returns the message for an unknown name: `There is no queue "ordres". Did you mean "orders"?` */
export function noSuch(kind: string, name: string, known: Iterable<string>): string {
  const names = [...known]
  const next =
    didYouMean(name, names.slice(0, 1000)) ||
    (names.length === 0
      ? ` There is none yet.`
      : ` Known: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}.`)
  return `There is no ${kind} ${quoted(name)}.${next}`
}

export function queueText(queue: QueueEngine, name: string): string {
  const lane = queue.lanes.get(name)
  if (lane === undefined)
    return noSuch(
      'queue',
      name,
      queue.lanes.list().map((other) => other.name),
    )
  const waiting = lane.waiting()
  const paused = lane.paused ? ` is paused${pausedSince(queue, 'queue', name)};` : ''
  const line = plural(waiting.length, 'message waits', 'messages wait')
  return `Queue ${name}${paused || ':'} ${slotsText(queue, lane)}, ${line} in line.${endsOfLine(queue, waiting)}`
}

export function flowControlText(queue: QueueEngine, name: string): string {
  const key = queue.flow.keys.get(name)
  if (key === undefined) return noSuch('flow-control key', name, queue.flow.keys.keys())
  const waiting = key.waiting()
  const { parallelismMax, rateMax, ratePeriod } = key
  const rules = [
    ...(rateMax === undefined ? [] : [`${plural(rateMax, 'call')} in ${ratePeriod} s`]),
    ...(parallelismMax === undefined ? [] : [`${plural(parallelismMax, 'call')} at a time`]),
  ]
  const rule = rules.length === 0 ? 'it limits nothing' : `it allows ${rules.join(' and ')}`
  const limits = limitsText(queue, key)
  const now = limits === '' ? 'a message can start now' : limits
  const line = plural(waiting.length, 'message waits', 'messages wait')
  return `Flow-control key ${name}: ${rule}; ${now}; ${line} in line.${endsOfLine(queue, waiting)}`
}

/**
 * Returns text about the first and the last message in a wait list, with the start of each. Empty if no message waits.
 */
function endsOfLine(queue: QueueEngine, line: readonly Message[]): string {
  const [first, last] = [line[0], line.at(-1)]
  if (first === undefined) return ''
  const forecasts = forecastsOf(queue, [first, last!])
  const tell = (which: string, message: Message): string => {
    const forecast = forecasts.get(message)
    return forecast === undefined ? '' : ` The ${which} is ${message.id}. ${forecastText(forecast)}`
  }
  return tell('first', first) + (line.length > 1 ? tell('last', last!) : '')
}

/**
 * Explains a deduplication ID: which message or schedule holds the ID, until when, and how the queue now responds to a
 * publish with this ID.
 */
export function deduplicationText(queue: QueueEngine, id: string): string {
  const { published, scheduled } = queue.publisher
  const now = queue.now()
  const isOf = (key: string): boolean => key === `id ${id}` || key.startsWith(`id ${id} `)
  const messages = published.remembered(now).filter(({ key }) => isOf(key))
  const schedules = scheduled.remembered(now).filter(({ key, first }) => isOf(key) && queue.schedules.get(first.id))
  if (messages.length === 0 && schedules.length === 0) {
    const ids = published
      .remembered(now)
      .flatMap(({ key }) => (key.startsWith('id ') ? [key.slice(3).split(' ')[0]!] : []))
    const nearest = nearestName(id, ids.slice(-1000))
    const meant = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}, which a message holds?`
    return `No message holds deduplication ID ${quoted(id)}, so the next publish with it is enqueued.${meant}`
  }
  const held = messages.map(({ first, until, key }) => {
    const place = key === `id ${id}` ? '' : ` for ${shownUrl(first.url)}`
    return `Deduplication ID ${JSON.stringify(id)}${place} is held until ${timeText(until)} by message ${first.id}, ${stateText(first)}. Until then, a publish with it gets 202 and that message's ID, regardless of its body and destination, and delivers nothing.`
  })
  const made = schedules.map(
    ({ first, until }) =>
      `For schedules to ${shownUrl(first.destination)}, the ID is held until ${timeText(until)} by schedule ${first.id}. Until then, a request to create a schedule with this ID gets 202 and the ID of that schedule.`,
  )
  return [...held, ...made].join(' ')
}

function stateText(message: Message): string {
  if (message.isEnded) return `which is ${message.state} since ${timeText(message.lastLog?.createdAt)}`
  return message.running ? 'which is being delivered' : 'which has not ended'
}
