import type { Forecast, ForecastBlocker } from './forecast.js'
import { listed, timeText } from './time-text.js'

type Name = (messageId: string) => string

/** A forecast as a sentence. */
export function forecastText(forecast: Forecast, name: Name = (id) => id): string {
  if ('at' in forecast) {
    const { at, unless } = forecast
    return `Its next attempt starts at ${timeText(at)}${unless === undefined ? '' : `, unless ${unless}`}.`
  }
  const { notBefore, blockedBy: because } = forecast
  return `Its next attempt starts not before ${timeText(notBefore)}, because ${causeText(because, name)}.`
}

/** `msg_1 must answer first` */
function causeText(because: ForecastBlocker, name: Name): string {
  if (because.kind === 'pause')
    return 'queue' in because
      ? `queue ${because.queue} is paused until somebody resumes it`
      : `flow-control key ${because.flowControlKey} is paused until somebody resumes it`
  const { messageIds, scheduleIds = [], holdsSlot: first } = because
  const who = [...messageIds.map(name), ...scheduleIds.map((id) => `what schedule ${id} publishes`)]
  if (who.length === 0) return 'a fault holds it until another delivery has gone'
  if (!first) return `it depends on the answer of ${listed(who)}: what follows from it may go first`
  return who.length === 1 ? `${who[0]} must answer first` : `one of ${listed(who)} must answer first`
}
