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

/** A handler left something else behind when its messages came again, or in another order. */
export class IdempotenceError extends Error {
  override readonly name = 'IdempotenceError'

  constructor(message: string) {
    super(message)
    // The stack is of no use: the message has the attempts.
    this.stack = `${this.name}: ${message}`
  }
}

/** What makes a handler see the same message again, or messages in another order. */
export type RepetitionKind = 'duplicate' | 'lost-ack' | 'concurrent' | 'reorder' | 'lost-response'

/** Options of `assertIdempotent()`. */
export interface IdempotenceOptions extends Omit<DeliveryUnderTest, 'handler' | 'publish'>, EffectOptions {
  /** Default: all of them; `lost-response` where the handler calls hosts that `sandbox.outbound` knows. */
  readonly under?: readonly RepetitionKind[]
  /** Publishes what the handler gets. Default: two messages with the bodies `{"id":1}` and `{"id":2}`. */
  readonly publish?: (sandbox: Sandbox) => unknown
  /** Only these, by the names that a failure gives for `Replay`: `lost-ack 2` strikes the second delivery. */
  readonly only?: readonly `${RepetitionKind} ${number}`[]
  /** More that must be the same as without faults, beside data store and outgoing calls: anything that JSON can tell. */
  readonly effect?: (sandbox: Sandbox) => unknown
}

interface Struck {
  /** Default: the delivery. */
  readonly on?: FaultRule['on']
  readonly fault: FaultRule['fault']
  readonly told: string
}

const repetitions: Readonly<Record<RepetitionKind, Struck>> = {
  duplicate: { fault: { kind: 'duplicate' }, told: 'the message is delivered twice' },
  'lost-ack': { fault: { kind: 'lost-ack' }, told: 'the answer is lost and the message is delivered again' },
  concurrent: {
    fault: { kind: 'duplicate', concurrent: true },
    told: 'the message is delivered twice at the same instant',
  },
  reorder: {
    fault: { kind: 'reorder', withinMs: 3_600_000 },
    told: 'the message is delivered after the one behind it',
  },
  'lost-response': {
    on: 'outbound.request',
    fault: { kind: 'lost-ack' },
    told: 'a foreign host did its work, and its answer to the handler was lost',
  },
}

/**
 * Fails unless a handler leaves the same behind however often, and in whichever order, its messages come: the same
 * data in the store, the same messages and calls going out; what `publish` publishes is none of them. Each message is
 * struck in turn. Before that nothing is struck, twice: effects that differ then, because they are made of chance or of
 * the date, could not be compared.
 * @throws IdempotenceError with what is different, NotRepeatableError where it is so without any fault
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
      "assertIdempotent(): 'reorder' needs two messages. Publish another one in `publish`, or leave it out of `under`.",
    )
  }
  if (!attempts.some(({ outcome }) => outcome?.state === 'DELIVERED')) {
    const { outcome } = attempts[0]!
    throw new Error(
      `assertIdempotent(): without any fault no message was delivered: ${outcome?.note ?? outcome?.error ?? `answered ${outcome?.status}`}.`,
    )
  }
  const wanted = told(once, options)
  const error = await unrepeatable(subject, options, wanted)
  if (error !== undefined) throw error
  // The last one has none behind it that it could change places with.
  const placesOf = { reorder: deliveries - 1, 'lost-response': once.sandbox.traffic.ofType('outbound').length }
  const places = under.flatMap((repetition) => {
    const length = (placesOf as Partial<Record<RepetitionKind, number>>)[repetition] ?? deliveries
    return Array.from({ length }, (_, skip) => ({ repetition, skip }))
  })
  for (const place of chosen(places, options.only)) await compare(subject, options, place, wanted)
}

/** A handler whose effects are other ones each time cannot be told from one that does things twice. */
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

/** A repetition, and how many deliveries come before the one that it strikes. */
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
      `assertIdempotent(): \`only\` names ${JSON.stringify(name)}, and there are ${places.map(placeName).join(', ')}.`,
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
    if (now.more !== wanted.more) broken.push(`effect() gave ${now.more}, without faults ${wanted.more}`)
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

/** The word before the number. */
function repetitionOf(name: unknown): RepetitionKind {
  return String(name).split(' ')[0] as RepetitionKind
}

function checkedRepetitions(under: readonly RepetitionKind[] | undefined): readonly RepetitionKind[] {
  const all = Object.keys(repetitions) as RepetitionKind[]
  if (under !== undefined && !Array.isArray(under))
    throw new TypeError(`assertIdempotent(): \`under\` is a list of ${all.join(', ')}.`)
  const unknown = under?.find((name) => !Object.hasOwn(repetitions, name))
  if (unknown !== undefined)
    throw new TypeError(
      `assertIdempotent() knows no ${JSON.stringify(unknown)}.${didYouMean(unknown, all)} It knows ${all.join(', ')}.`,
    )
  if (under?.length === 0) throw new TypeError(`assertIdempotent(): \`under\` is empty. It knows ${all.join(', ')}.`)
  return under === undefined ? all : [...new Set(under)]
}
