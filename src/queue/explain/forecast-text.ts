import type { Forecast, ForecastBlocker } from './forecast.js'
import { listed, timeText } from './time-text.js'

type Name = (messageId: string) => string

export function forecastText(forecast: Forecast, name: Name = (id) => id): string {
  if ('at' in forecast) {
    const { at, unless } = forecast
    return `Its next attempt starts at ${timeText(at)}${unless === undefined ? '' : `, unless ${unless}`}.`
  }
  const { notBefore, blockedBy: because } = forecast
  return `Its next attempt starts not before ${timeText(notBefore)}, because ${causeText(because, name)}.`
}

/** Returns the cause of an unknown start time as text: `msg_1 must get its response first`. */
function causeText(because: ForecastBlocker, name: Name): string {
  if (because.kind === 'pause')
    return 'queue' in because
      ? `queue ${because.queue} is paused until it is resumed`
      : `flow-control key ${because.flowControlKey} is paused until it is resumed`
  const { messageIds, scheduleIds = [], holdsSlot: first } = because
  const who = [...messageIds.map(name), ...scheduleIds.map((id) => `the messages of schedule ${id}`)]
  if (who.length === 0) return 'a fault holds it until another delivery has ended'
  if (!first) return `it depends on the response to ${listed(who)}, whose retries or callbacks may go first`
  return who.length === 1
    ? `${who[0]} must get its response first`
    : `one of ${listed(who)} must get its response first`
}
