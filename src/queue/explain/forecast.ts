import type { InjectionPoint } from '../../faults/points.js'
import type { Message } from '../message/message.js'
import type { QueueEngine } from '../queue-engine.js'
import type { Cause, ForecastMessage } from './forecast-copies.js'
import { ForecastModel } from './forecast-model.js'
import { ForecastRun } from './forecast-run.js'

/**
 * Start of a message's next attempt, provided that no request from outside publishes, pauses, resumes or changes
 * anything. Instants are milliseconds since the Unix epoch. It is either an exact instant, or an earliest instant if
 * the start depends on an unknown event.
 */
export type Forecast =
  | {
      readonly at: number
      /** Only events that can change it, as a clause: a fault rule, or the end of its workflow run. */
      readonly unless?: string
    }
  | { readonly notBefore: number; readonly blockedBy: ForecastBlocker }

/** Condition on which a forecast depends. */
export type ForecastBlocker =
  | {
      readonly kind: 'response'
      /** Messages whose responses matter: those that are being delivered or will be. */
      readonly messageIds: readonly string[]
      /** Schedules whose coming messages matter, too. */
      readonly scheduleIds?: readonly string[]
      /**
       * Whether one of the responses must come first. Otherwise they only influence the start, for example by a retry
       * that takes the slot.
       */
      readonly holdsSlot: boolean
    }
  | { readonly kind: 'pause'; readonly queue: string }
  | { readonly kind: 'pause'; readonly flowControlKey: string }

/** Returns the forecasts of messages; none for a message that has ended, was canceled or will never be delivered. */
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

/** Reads the forecasts of one run. Values that many forecasts share are built once. */
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
    return part !== undefined && this.#openOf(part.runId) > 1 ? 'its workflow run ends before' : undefined
  }

  /** Returns the number of messages of a run that have not ended. */
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
  // A message that is held by a pause gets no response.
  const answering = cause.of.filter((item) => item.cause?.kind !== 'pause')
  const messageIds = answering.flatMap((item) => item.message?.id ?? [])
  const scheduleIds = [...new Set(answering.flatMap(({ scheduleId }) => scheduleId ?? []))]
  const { first } = cause
  return { kind: 'response', messageIds, ...(scheduleIds.length > 0 && { scheduleIds }), holdsSlot: first }
}
