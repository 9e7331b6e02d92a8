import type { FaultPoint } from '../../faults/points.js'
import type { Message } from '../message/message.js'
import type { Queue } from '../queue.js'
import { CopyOf } from './copied-world.js'
import type { Item } from './copies.js'
import { Play } from './play.js'

/**
 * When the next attempt of a message starts, as things stand: nobody publishes, pauses, resumes or changes anything from
 * outside. Instants in milliseconds since the Unix epoch. Either an instant, whatever is answered until then; or that it
 * is not before one, because it depends on something that nobody knows yet.
 */
export type Forecast =
  | {
      readonly at: number
      /** What alone can change it, as part of a sentence: a rule of faults, the end of its workflow run. */
      readonly unless?: string
    }
  | { readonly notBefore: number; readonly because: ForecastCause }

/** What a forecast depends on. */
export type ForecastCause =
  | {
      readonly kind: 'answer'
      /** Messages whose answers count: those that are being delivered, or will be. */
      readonly messageIds: readonly string[]
      /** Schedules whose coming messages count, too. */
      readonly scheduleIds?: readonly string[]
      /** One of the answers has to come first; else they only decide, by a retry that takes the place, for example. */
      readonly first: boolean
    }
  | { readonly kind: 'pause'; readonly queue: string }
  | { readonly kind: 'pause'; readonly flowControlKey: string }

/** Forecasts of messages; none for one that has ended, was cancelled or that nothing will move on. */
export function forecastsOf(queue: Queue, asked: readonly Message[]): ReadonlyMap<Message, Forecast> {
  const open = asked.filter(({ visible }) => visible)
  const forecasts = new Map<Message, Forecast>()
  const copies = open.length === 0 ? undefined : new CopyOf(queue, open)
  if (copies === undefined) return forecasts
  const items = open.flatMap((message) => copies.of(message) ?? [])
  const heldBack = new Set(queue.courier.heldBack())
  new Play(copies, items).run()
  for (const message of open) {
    const item = copies.of(message)
    const forecast = heldBack.has(message)
      ? { notBefore: queue.now(), because: { kind: 'answer', messageIds: [], first: false } as const }
      : item && forecastOf(queue, item)
    if (forecast !== undefined) forecasts.set(message, forecast)
  }
  return forecasts
}

function forecastOf(queue: Queue, { start, cause, message }: Item): Forecast | undefined {
  if (start === undefined) return undefined
  if (cause === undefined) {
    const unless = whatElse(queue, message!)
    return { at: start, ...(unless !== undefined && { unless }) }
  }
  if (cause.kind === 'pause') {
    const { of, name } = cause
    return { notBefore: start, because: { kind: 'pause', [of]: name } as ForecastCause }
  }
  const answering = cause.of.filter((item) => item.cause?.kind !== 'pause')
  const messageIds = answering.flatMap((item) => item.message?.id ?? [])
  const scheduleIds = [...new Set(answering.flatMap(({ scheduleId }) => scheduleId ?? []))]
  const { kind, first } = cause
  const schedules = scheduleIds.length === 0 ? {} : { scheduleIds }
  return { notBefore: start, because: { kind, messageIds, ...schedules, first } }
}

function whatElse({ faults, courier }: Queue, message: Message): string | undefined {
  const { part, kind } = message
  const points: FaultPoint[] = [kind === 'message' ? 'queue.delivery' : 'queue.callback']
  if (part !== undefined) points.push(part.isCall ? 'workflow.call' : 'workflow.step')
  if (message.strikes === undefined && points.some((point) => faults?.armed[point] !== undefined))
    return 'a rule of faults strikes'
  if (part === undefined) return undefined
  for (const other of courier.byId.values())
    if (other !== message && !other.ended && other.part?.runId === part.runId) return 'its workflow run ends before'
  return undefined
}
