import { counted } from '../kernel/counted.js'
import { iso } from '../kernel/instant.js'
import { shownUrl } from '../secrets/urls.js'
import type { FlowKey } from './delivery/flow-control.js'
import type { Message } from './message/message.js'
import type { Queue } from './queue.js'

/** Why a message is where it is, in sentences that a person can act on. */
export function explain(queue: Queue, id: string): string {
  const message = queue.courier.byId.get(id)
  if (message === undefined) {
    return `There is no message ${id}: it was never published here, or its last log entry has left the retention of ${queue.limits.logRetention / 86_400_000} days.`
  }
  return `Message ${message.id} to ${shownUrl(message.url)}${ofRun(message)} ${state(queue, message)}.`
}

/** `, which carries step "charge" of workflow run wfr_1,` */
function ofRun(message: Message): string {
  const { part, kind } = message
  if (part === undefined) return ''
  const step = part.step(message)
  const does = kind === 'callback' ? 'brings the answer of' : part.isCall ? 'is called for' : 'carries'
  const what = step === undefined ? 'belongs to' : `${does} step ${JSON.stringify(step.stepName)} of`
  return `, which ${what} workflow run ${part.runId},`
}

function state(queue: Queue, message: Message): string {
  const attempts = message.retried + (message.ended || message.running ? 1 : 0)
  const times = counted(attempts, 'attempt')
  if (message.vanished) return 'was made to vanish by a fault: nothing more will happen to it'
  if (message.state === 'DELIVERED') return `was delivered at ${timeText(message.lastLog?.time)} after ${times}`
  if (message.state === 'CANCELLED') return `was cancelled; it ended at ${timeText(message.lastLog?.time)}`
  if (message.state === 'FAILED')
    return `failed for good at ${timeText(message.lastLog?.time)} after ${times}${lastError(queue, message)}`
  if (message.running)
    return `is being delivered: ${turn(message)}, begun at ${timeText(message.lastLog?.time)}${message.cancelRequested ? '; a cancel was requested' : ''}`
  if (message.cancelRequested)
    return `was cancelled; the entry CANCELLED follows at ${timeText(message.due)}, when its next delivery would have been due`
  if (message.ticket?.live === true) return `waits since ${timeText(message.ticket.since)}: ${blocked(queue, message)}`
  if (message.held)
    return 'is held until the endpoint has answered the call that submitted it: the next step never overtakes that answer'
  if (message.timer === undefined) return `waits for its turn in queue ${message.lane?.name}: ${lane(message)}`
  const reason =
    message.wait?.reason ??
    (message.due > message.time ? `${(message.due - message.time) / 1000} s after it was published` : 'due at once')
  return `waits for ${turn(message)} at ${timeText(message.due)}, ${reason}`
}

function turn(message: Message): string {
  return message.retried === 0 ? 'its first attempt' : `retry ${message.retried} of ${message.maxRetries}`
}

function lane(message: Message): string {
  const { lane: queue } = message
  if (queue === undefined) return 'it was deleted'
  const ahead = queue.waiting().indexOf(message)
  const line = ahead > 0 ? `; ${counted(ahead, 'message is', 'messages are')} ahead of it in line` : ''
  if (queue.paused) return `the queue is paused${line}`
  const holders = [...queue.holding].map(
    (holder) =>
      `${holder.id} (${holder.ended ? 'its callbacks have not ended' : holder.running ? 'being delivered' : `waiting until ${timeText(holder.due)}`})`,
  )
  return `${queue.holding.size} of ${counted(queue.parallelism, 'slot')} used by ${holders.join(', ')}${line}`
}

function blocked(queue: Queue, message: Message): string {
  const name = message.settings.flowControl?.key
  const key = name === undefined ? undefined : queue.flow.keys.get(name)
  if (key === undefined || key.running.has(message)) {
    return `all ${queue.limits.globalParallelism} parallel calls of the plan are taken`
  }
  return `flow-control key ${key.key}: ${limits(queue, key).join('; ')}`
}

function limits(queue: Queue, key: FlowKey): string[] {
  const reasons: string[] = []
  if (key.paused) reasons.push('it is paused')
  if (key.parallelismMax !== undefined && key.parallelismCount >= key.parallelismMax) {
    const users = [...key.running].map((holder) => holder.id).join(', ')
    reasons.push(`${key.parallelismCount} of ${key.parallelismMax} slots used by ${users}`)
  }
  key.refresh(queue.now())
  if (key.rateMax !== undefined && key.rateCount >= key.rateMax) {
    reasons.push(
      `${key.rateCount} of ${key.rateMax} calls made in this period of ${key.ratePeriod} s, which ends at ${timeText(key.periodEnd())}`,
    )
  }
  if (reasons.length === 0) reasons.push('others are ahead of it in line')
  return reasons
}

function lastError(queue: Queue, message: Message): string {
  const error = queue.log.about(message).findLast((entry) => entry.detail?.error !== undefined)?.detail?.error
  return error === undefined ? '' : `, the last one with ${error}`
}

/** `2030-01-01 10:12:30`, with milliseconds where there are any. */
export function timeText(at: number | undefined): string {
  if (at === undefined) return 'an unknown time'
  return iso(at).replace('T', ' ').replace('.000Z', '').replace('Z', '')
}
