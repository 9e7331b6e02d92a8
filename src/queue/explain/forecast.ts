import type { InjectionPoint } from '../../faults/points.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'
import { ForecastModel } from './forecast-model.js'
import { ForecastRun } from './forecast-run.js'

/**
 * Start of a message's next attempt. The forecast is correct if no request from outside publishes, pauses, resumes or
 * changes anything before the start. If the start depends on an unknown event, the forecast has the earliest possible
 * time, otherwise the exact time. All times are milliseconds since the Unix epoch.
 */
export type Forecast =
  | {
      /** Exact start of the attempt in milliseconds since the Unix epoch. */
      readonly at: number
      /**
       * Only event that may still change the start, as text: `a fault rule applies` or `its workflow run ends earlier`.
       */
      readonly unless?: string
    }
  | {
      /** Earliest possible start of the attempt in milliseconds since the Unix epoch. */
      readonly notBefore: number
      /** Unknown event on which the start depends. */
      readonly blockedBy: ForecastBlocker
    }

/** Unknown event on which the start of an attempt depends. */
export type ForecastBlocker =
  | {
      /** The start depends on responses that have not arrived. */
      readonly kind: 'response'
      /** IDs of the messages on whose responses the start depends. */
      readonly messageIds: readonly string[]
      /** IDs of schedules that will publish messages whose responses affect the start. Absent if there are none. */
      readonly scheduleIds?: readonly string[]
      /**
       * `true`: the attempt cannot start before one of these responses. `false`: the attempt can start earlier, but a
       * response may change its start. For example, a failed message is retried and takes the slot.
       */
      readonly holdsSlot: boolean
    }
  | {
      /** The start depends on a paused FIFO queue. */
      readonly kind: 'pause'
      /** Name of the paused FIFO queue. */
      readonly queue: string
    }
  | {
      /** The start depends on a paused flow-control key. */
      readonly kind: 'pause'
      /** Name of the paused flow-control key. */
      readonly flowControlKey: string
    }

/**
 * Returns the forecasts of the given messages. A message that has ended, was canceled or will never be delivered has no
 * forecast.
 */
export function forecastsOf(queue: QueueEngine, asked: readonly Message[]): ReadonlyMap<Message, Forecast> {
  const open = asked.filter(({ visible }) => visible)
  const forecasts = new Map<Message, Forecast>()
  const copies = open.length === 0 ? undefined : new ForecastModel(queue, open)
  if (copies === undefined) return forecasts
  const items = open.flatMap((message) => copies.of(message) ?? [])
  const heldBack = new Set(queue.courier.heldBack())
  new ForecastRun(copies, items).run()
  const reader = new ForecastReader(queue)
  for (const message of open) {
    const item = copies.of(message)
    const forecast = heldBack.has(message)
      ? { notBefore: queue.now(), blockedBy: { kind: 'response', messageIds: [], holdsSlot: false } as const }
      : item && reader.forecast(item)
    if (forecast !== undefined) forecasts.set(message, forecast)
  }
  return forecasts
}

/** Converts the result of one forecast run to `Forecast` objects. Forecasts with the same cause share one object. */
class ForecastReader {
  readonly #causes = new Map<Cause, ForecastBlocker>()
  #openOfRuns: Map<string, number> | undefined

  constructor(private readonly queue: QueueEngine) {}

  forecast({ start, cause, message }: ForecastMessage): Forecast | undefined {
    if (start === undefined) return undefined
    if (cause !== undefined) return { notBefore: start, blockedBy: this.#cause(cause) }
    const unless = this.#whatElse(message!)
    return { at: start, ...(unless !== undefined && { unless }) }
  }

  #cause(cause: Cause): ForecastBlocker {
    let told = this.#causes.get(cause)
    if (told === undefined) {
      told = causeOf(cause)
      this.#causes.set(cause, told)
    }
    return told
  }

  #whatElse(message: Message): string | undefined {
    const { faults } = this.queue
    const { part, kind } = message
    const points: InjectionPoint[] = [kind === 'message' ? 'queue.delivery' : 'queue.callback']
    if (part !== undefined) points.push(part.isCall ? 'workflow.call' : 'workflow.step')
    if (message.injections === undefined && points.some((point) => faults?.activeByPoint[point] !== undefined))
      return 'a fault rule applies'
    return part !== undefined && this.#openOf(part.runId) > 1 ? 'its workflow run ends earlier' : undefined
  }

  /** Returns the number of pending messages of a workflow run. */
  #openOf(runId: string): number {
    this.#openOfRuns ??= countedRuns(this.queue)
    return this.#openOfRuns.get(runId) ?? 0
  }
}

function countedRuns({ courier }: QueueEngine): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { part } of courier.live.select({}).items)
    if (part !== undefined) counts.set(part.runId, (counts.get(part.runId) ?? 0) + 1)
  return counts
}

function causeOf(cause: Cause): ForecastBlocker {
  if (cause.kind === 'pause') {
    const { kind, of, name } = cause
    return of === 'queue' ? { kind, queue: name } : { kind, flowControlKey: name }
  }
  // Omit messages that a pause blocks. They are not delivered, so they get no response.
  const answering = cause.of.filter((item) => item.cause?.kind !== 'pause')
  const messageIds = answering.flatMap((item) => item.message?.id ?? [])
  const scheduleIds = [...new Set(answering.flatMap(({ scheduleId }) => scheduleId ?? []))]
  const { first } = cause
  return { kind: 'response', messageIds, ...(scheduleIds.length > 0 && { scheduleIds }), holdsSlot: first }
}
