import { formatDuration } from '../kernel/duration.js'
import type { Fault } from './fault.js'

/** What comes of a fault, as a part of a sentence: for the timeline, where nobody knows better. */
export function effectOf(fault: Fault, phase: 'before' | 'after'): string {
  const done = phase === 'after' ? 'the work is done, ' : ''
  switch (fault.kind) {
    case 'status':
      return `${done}answered ${fault.status}`
    case 'latency':
      return 'takes longer'
    case 'rate-limited': {
      const { retryAfter } = fault
      const wait =
        retryAfter === undefined || retryAfter.form === 'none'
          ? ''
          : `, Retry-After ${formatDuration(retryAfter.waitMs)} as ${retryAfter.form === 'date' ? 'a date' : 'seconds'}`
      return `answered 429 of the ${fault.limit} limit${wait}`
    }
    case 'non-retryable':
      return 'answered 489, not to be retried'
    case 'pass':
      return 'let through'
    case 'reset':
      return `${done}the connection is reset`
    case 'refused':
      return 'the connection is refused'
    case 'unresolved':
      return 'the host is not found'
    case 'certificate':
      return 'the certificate is not valid'
    case 'hang':
      return fault.forMs === undefined ? `${done}no answer` : `${done}no answer for ${formatDuration(fault.forMs)}`
    case 'half-open':
      return 'the work is done, headers arrive and nothing more'
    case 'truncate':
      return `the work is done, the body breaks off after ${counted(fault.afterBytes, 'byte')}`
    case 'corrupt-json':
      return 'the work is done, the body is no JSON'
    case 'slow-body':
      return `the work is done, the body comes at ${fault.bytesPerSecond} bytes a second`
    case 'content-type':
      return `the work is done, the answer claims to be ${fault.type}`
    case 'lost-ack':
      return 'the work is done, its answer is lost'
    case 'late-answer':
      return 'the work is done, its answer comes late'
    case 'duplicate':
      return `happens ${(fault.copies ?? 1) + 1} times${fault.concurrent === true ? ' at once' : ''}`
    case 'delay':
      return `held for ${formatDuration(fault.waitMs)}`
    case 'reorder':
      return `held until a later one has gone, at most ${formatDuration(fault.withinMs)}`
    case 'drop':
      return 'vanishes'
    case 'signature':
      return `signed wrongly: ${fault.flaw}`
    case 'clock-skew':
      return `signed by a clock that is ${formatDuration(Math.abs(fault.byMs))} ${fault.byMs < 0 ? 'behind' : 'ahead'}`
    case 'revoked-token':
      return 'the token is refused'
    case 'quota':
      return 'the quota is used up'
    case 'reply':
      return phase === 'after' ? `the command ran, the reply is an error: ${fault.error}` : `error: ${fault.error}`
    case 'cut-stream':
      return `the stream breaks off after ${counted(fault.afterEvents, 'event')}`
    case 'stall-stream': {
      const span = fault.forMs === undefined ? '' : ` for ${formatDuration(fault.forMs)}`
      return `the stream falls silent after ${counted(fault.afterEvents, 'event')}${span}`
    }
    case 'stale-read':
      return `answered from ${counted(fault.versions, 'change')} ago`
    case 'restart':
      return `${done}the service restarts${fault.downMs === undefined ? '' : `, down for ${formatDuration(fault.downMs)}`}`
    case 'outage': {
      const what = fault.region === undefined ? 'the service' : `region ${fault.region}`
      return `${what} is gone: ${fault.status === undefined ? 'connections are refused' : `answered ${fault.status}`}`
    }
  }
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
