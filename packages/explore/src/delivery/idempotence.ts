import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { checkOptionNames, didYouMean } from '../../../../src/kernel/nearest-name.js'
import { carryFailure } from '../../../../src/report/failure.js'
import { replayLines } from '../../../../src/report/failure-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { anotherDay, type LeftBehind, notRepeatable } from './baseline.js'
import { differences, type EffectOptions, effectsOf } from './delivery-effects.js'
import {
  attemptTable,
  checkHandler,
  type DeliveryHandler,
  type DeliveryRun,
  type DeliveryUnderTest,
  inEnvironment,
  runDelivery,
} from './delivery-run.js'

/** Thrown if the effects of a handler change when its messages are repeated or reordered. */
export class IdempotenceError extends Error {
  /** Name of the error class. */
  override readonly name = 'IdempotenceError'

  constructor(message: string) {
    super(message)
    // The stack trace would show only code of this package, so it is replaced by the message.
    this.stack = `${this.name}: ${message}`
  }
}

/** Kind of repetition or reordering of messages. */
export type RepetitionKind = 'duplicate' | 'lost-ack' | 'concurrent' | 'reorder' | 'lost-response'

/** Options of `assertIdempotent()`. */
export interface IdempotenceOptions extends Omit<DeliveryUnderTest, 'handler' | 'publish'>, EffectOptions {
  /**
   * Kinds of repetition that are tried. Default: all kinds. `lost-response` is only tried if the handler sends requests
   * to hosts of `sandbox.outbound`.
   */
  readonly under?: readonly RepetitionKind[]
  /** Publishes the messages. Default: two messages with the bodies `{"id":1}` and `{"id":2}`. */
  readonly publish?: (sandbox: Sandbox) => unknown
  /** Tries only these repetitions. Copy the names from a failure: `lost-ack 2` hits the second delivery. */
  readonly only?: readonly `${RepetitionKind} ${number}`[]
  /**
   * Returns other state that must not change, as a JSON value. The check already compares the data store and outgoing
   * requests.
   */
  readonly effect?: (sandbox: Sandbox) => unknown
}

interface Struck {
  /** Injection point of the fault. Default `queue.delivery`. */
  readonly on?: FaultRule['on']
  readonly fault: FaultRule['fault']
  readonly told: string
}

const repetitions: Readonly<Record<RepetitionKind, Struck>> = {
  duplicate: { fault: { kind: 'duplicate' }, told: 'the message is delivered twice' },
  'lost-ack': { fault: { kind: 'lost-ack' }, told: 'the response is lost and the message is delivered again' },
  concurrent: {
    fault: { kind: 'duplicate', concurrent: true },
    told: 'the message is delivered twice at the same instant',
  },
  reorder: {
    fault: { kind: 'reorder', withinMs: 3_600_000 },
    told: 'the message is delivered after the next one',
  },
  'lost-response': {
    on: 'outbound.request',
    fault: { kind: 'lost-ack' },
    told: 'an external host did its work, and its response to the handler was lost',
  },
}

/**
 * Fails if the effects of a handler change when its messages are repeated or reordered. Effects are the data in the
 * store, published messages and outbound requests. The messages of `publish` are not effects. Each run repeats or
 * reorders another message. Before that, two runs without faults are compared. If their effects differ, because of
 * randomness or the date, runs with faults cannot be checked.
 * @throws IdempotenceError if effects differ, NotRepeatableError if they differ without any fault
 * @example await assertIdempotent(ordersRoute, { under: ['duplicate', 'lost-ack'], ignoreKeys: ['seen:*'] })
 */
export async function assertIdempotent(
  handler: DeliveryHandler | Readonly<Record<string, DeliveryHandler>>,
  options: IdempotenceOptions = {},
): Promise<void> {
  checkOptionNames('assertIdempotent()', options, {
    under: true,
    publish: true,
    only: true,
    effect: true,
    outbound: true,
    sandbox: true,
    drain: true,
    ignoreKeys: true,
    ignoreOutbound: true,
  })
  checkFixture(options.sandbox)
  checkHandler(handler, 'assertIdempotent()')
  const under = checkedRepetitions(options.under ?? options.only?.map(repetitionOf))
  const subject: DeliveryUnderTest = { ...options, handler, publish: options.publish ?? deliverTwo }
  await inEnvironment(subject, () => compareAll(subject, options, under))
}

async function compareAll(
  subject: DeliveryUnderTest,
  options: IdempotenceOptions,
  under: readonly RepetitionKind[],
): Promise<void> {
  const once = await runDelivery(subject, [])
  once.end()
  if (once.error !== undefined) throw once.error
  const attempts = once.sandbox.traffic.ofType('attempt').filter(({ kind }) => kind === 'message')
  const deliveries = attempts.length
  if (deliveries === 0) {
    throw new TypeError('assertIdempotent(): nothing was delivered. Publish a message in `publish`.')
  }
  if (under.includes('reorder') && new Set(attempts.map(({ messageId }) => messageId)).size < 2) {
    throw new TypeError(
      "assertIdempotent(): 'reorder' needs two messages. Publish another message in `publish`, or remove 'reorder' from `under`.",
    )
  }
  if (!attempts.some(({ outcome }) => outcome?.state === 'DELIVERED')) {
    const { outcome } = attempts[0]!
    throw new Error(
      `assertIdempotent(): no delivery succeeded in the run without faults: ${outcome?.note ?? outcome?.error ?? `status ${outcome?.status}`}.`,
    )
  }
  const wanted = told(once, options)
  const error = await unrepeatable(subject, options, wanted)
  if (error !== undefined) throw error
  // `reorder` moves a delivery behind the next delivery, so the last delivery cannot be moved.
  const placesOf = { reorder: deliveries - 1, 'lost-response': once.sandbox.traffic.ofType('outbound').length }
  const places = under.flatMap((repetition) => {
    const length = (placesOf as Partial<Record<RepetitionKind, number>>)[repetition] ?? deliveries
    return Array.from({ length }, (_, skip) => ({ repetition, skip }))
  })
  for (const place of chosen(places, options.only)) await compare(subject, options, place, wanted)
}

/**
 * Repeats the run without faults on another day, and returns an error if its effects differ. A comparison with faults
 * would then show differences that no fault caused.
 */
async function unrepeatable(
  subject: DeliveryUnderTest,
  options: IdempotenceOptions,
  wanted: LeftBehind,
): Promise<Error | undefined> {
  return anotherDay(async () => {
    const again = await runDelivery(subject, [])
    try {
      if (again.error !== undefined) throw again.error
      return notRepeatable(wanted, told(again, options))
    } finally {
      again.end()
    }
  })
}

/** Kind of a repetition, and `skip`, the number of deliveries before the repeated one. */
interface RepetitionTarget {
  readonly repetition: RepetitionKind
  readonly skip: number
}

function placeName({ repetition, skip }: RepetitionTarget): string {
  return `${repetition} ${skip + 1}`
}

function chosen(places: readonly RepetitionTarget[], only: IdempotenceOptions['only']): readonly RepetitionTarget[] {
  if (only === undefined) return places
  return only.map((name) => {
    const place = places.find((each) => placeName(each) === name)
    if (place !== undefined) return place
    throw new TypeError(
      `assertIdempotent(): \`only\` has an unknown name (got ${JSON.stringify(name)}). Use ${places.map(placeName).join(', ')}.`,
    )
  })
}

async function compare(
  subject: DeliveryUnderTest,
  options: IdempotenceOptions,
  place: RepetitionTarget,
  wanted: LeftBehind,
): Promise<void> {
  const { repetition, skip } = place
  const { on = 'queue.delivery', fault, told: what } = repetitions[repetition]
  const run = await runDelivery(subject, [{ on, ...(skip > 0 && { skip }), times: 1, fault } as FaultRule])
  try {
    if (run.error !== undefined) throw run.error
    const now = told(run, options)
    const broken = differences(now.effects, wanted.effects)
    if (now.more !== wanted.more) broken.push(`effect() returned ${now.more}, but ${wanted.more} without faults`)
    if (broken.length === 0) return
    const replay = `assertIdempotent(handler, { …, only: ['${placeName(place)}'] })`
    const timeline = run.sandbox.traffic.timeline({ limit: 80 })
    const error = new IdempotenceError(
      [
        `The handler is not idempotent under ${repetition}: ${what}.`,
        attemptTable(run.sandbox),
        ...broken.map((line) => `  → ${line}`),
        '',
        timeline,
        '',
        ...replayLines(replay),
      ].join('\n'),
    )
    throw carryFailure(error, { causes: broken, replay, timeline: timeline.split('\n') })
  } finally {
    run.end()
  }
}

function told(run: DeliveryRun, options: IdempotenceOptions): LeftBehind {
  return { effects: effectsOf(run, { ...options, given: false }), more: JSON.stringify(options.effect?.(run.sandbox)) }
}

function deliverTwo({ queue }: Sandbox): void {
  for (const id of [1, 2]) queue.publish({ to: 'https://handler.test/', body: { id } })
}

/** Returns the kind of a repetition from its name: `lost-ack` for `lost-ack 2`. */
function repetitionOf(name: unknown): RepetitionKind {
  return String(name).split(' ')[0] as RepetitionKind
}

function checkedRepetitions(under: readonly RepetitionKind[] | undefined): readonly RepetitionKind[] {
  const all = Object.keys(repetitions) as RepetitionKind[]
  if (under !== undefined && !Array.isArray(under))
    throw new TypeError(`assertIdempotent(): \`under\` must be a list of ${all.join(', ')}.`)
  const unknown = under?.find((name) => !Object.hasOwn(repetitions, name))
  if (unknown !== undefined)
    throw new TypeError(
      `assertIdempotent(): unknown repetition ${JSON.stringify(unknown)}.${didYouMean(unknown, all)} Use one of ${all.join(', ')}.`,
    )
  if (under?.length === 0)
    throw new TypeError(`assertIdempotent(): \`under\` must not be empty. Use ${all.join(', ')}.`)
  return under === undefined ? all : [...new Set(under)]
}
