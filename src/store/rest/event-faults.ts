import { actionAt } from '../../faults/catalog.js'
import type { FaultFacts } from '../../faults/fault.js'
import type { EventFaultContext } from '../../faults/fault-context.js'
import type { Bytes } from '../../kernel/bytes.js'
import type { PubSubMessage } from '../keyspace/pubsub.js'
import type { CommandOrigin } from './command-faults.js'
import type { RestStore } from './store-front.js'

/** Writable end of a stream. */
export interface EventOutlet {
  /**
   * Writes a message to the stream.
   * @param line the changed line of the event stream, if a fault changed it
   */
  pass(message: PubSubMessage, line?: Bytes): void
  breakOff(): void
}

export function faultyEvent(outlet: EventOutlet, message: PubSubMessage, call: CommandOrigin, front: RestStore): void {
  if (isConfirmation(message)) {
    outlet.pass(message)
    return
  }
  const strikes = front.faults?.injections('stream.event', eventFacts(message, call)) ?? []
  const sent = { line: message.line, wait: 0, copies: 1, breaks: false }
  for (const strike of strikes) {
    const { fault, phase } = strike
    const record = strike.log(call.cause === 0 ? undefined : call.cause, channelOf(message))
    const moment: EventFaultContext = Object.assign(sent, {
      phase,
      draw: (below: number) => strike.draw(below),
      tell: (effect: string) => {
        record.effect = effect
      },
    })
    actionAt('stream.event', fault)(fault, moment)
  }
  const { line, wait, copies, breaks } = sent
  const send = (): void => {
    for (let count = 0; count < copies; count++) outlet.pass(message, line)
    if (!breaks) return
    if (copies === 0) outlet.breakOff()
    // Breaking the stream would drop unread events, so a timer breaks it after the reader had time to read.
    else front.clock.schedule(front.clock.now(), 'end of an event stream', () => outlet.breakOff())
  }
  if (wait === 0) send()
  else front.clock.schedule(front.clock.now() + wait, 'event that a fault delays', send)
}

/** Returns the channel of a message. Lines for monitors have none. */
function channelOf({ parts: [kind, first, second] }: PubSubMessage): Bytes {
  return ((kind === 'message' || kind === 'smessage' ? first : kind === 'pmessage' ? second : '') ?? '') as Bytes
}

const confirmations: ReadonlySet<string> = new Set(['"OK"', 'subscribe', 'psubscribe', 'ssubscribe'])

/**
 * Returns whether a message confirms a subscription. Confirmations are part of opening the stream, so faults do not
 * affect them.
 */
function isConfirmation({ parts: [kind] }: PubSubMessage): boolean {
  return confirmations.has(kind)
}

function eventFacts(message: PubSubMessage, call: CommandOrigin): FaultFacts {
  return {
    service: 'store',
    path: call.path,
    keys: [channelOf(message)],
    headers: call.headers,
  }
}
