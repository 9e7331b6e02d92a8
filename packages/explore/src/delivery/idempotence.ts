import { checkFixture } from '../../../../fixtures/fixture-sandbox.js'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
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
  type DeliverySubject,
  inEnvironment,
  runDelivery,
} from './delivery-run.js'

/** What makes a handler see the same message again, or messages in another order. */
export type Repetition = 'duplicate' | 'lost-ack' | 'concurrent' | 'reorder' | 'lost-call'

export interface IdempotenceOptions extends Omit<DeliverySubject, 'handler' | 'deliver'>, EffectOptions {
  /** Default: all of them; `lost-call` where the handler calls hosts that `sandbox.calls` knows. */
  readonly under?: readonly Repetition[]
  /** Publishes what the handler gets. Default: two messages with the bodies `{"id":1}` and `{"id":2}`. */
  readonly deliver?: (sandbox: Sandbox) => unknown
  /** Only these, by the names that a failure gives for `Replay`: `lost-ack 2` strikes the second delivery. */
  readonly only?: readonly `${Repetition} ${number}`[]
  /** More that must be the same as without faults, beside data store and outgoing calls: anything that JSON can tell. */
  readonly effect?: (sandbox: Sandbox) => unknown
}

interface Struck {
  /** Default: the delivery. */
  readonly on?: FaultRule['on']
  readonly fault: FaultRule['fault']
  readonly told: string
}

const repetitions: Readonly<Record<Repetition, Struck>> = {
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
  'lost-call': {
    on: 'outbound.request',
    fault: { kind: 'lost-ack' },
    told: 'a foreign host did its work, and its answer to the handler was lost',
  },
}

/**
 * Fails unless a handler leaves the same behind however often, and in whichever order, its messages come: the same
 * data in the store, the same messages and calls going out; what `deliver` publishes is none of them. Each message is
 * struck in turn. Before that nothing is struck, twice: effects that differ then, because they are made of chance or of
 * the date, could not be compared.
 * @example await expectIdempotent(ordersRoute, { under: ['duplicate', 'lost-ack'], ignoreKeys: ['seen:*'] })
 * @throws Error `NotIdempotent` with what is different, or `NotRepeatable` where it is so without any fault
 */
export async function expectIdempotent(
  handler: DeliveryHandler | Readonly<Record<string, DeliveryHandler>>,
  options: IdempotenceOptions = {},
): Promise<void> {
  checkOptionNames('expectIdempotent()', options, {
    under: true,
    deliver: true,
    only: true,
    effect: true,
    calls: true,
    sandbox: true,
    settle: true,
    ignoreKeys: true,
    ignoreCalls: true,
  })
  checkFixture(options.sandbox)
  checkHandler(handler, 'expectIdempotent()')
  const under = checkedRepetitions(options.under ?? options.only?.map(repetitionOf))
  const subject: DeliverySubject = { ...options, handler, deliver: options.deliver ?? deliverTwo }
  await inEnvironment(subject, () => compareAll(subject, options, under))
}

async function compareAll(
  subject: DeliverySubject,
  options: IdempotenceOptions,
  under: readonly Repetition[],
): Promise<void> {
  const once = await runDelivery(subject, [])
  once.end()
  if (once.error !== undefined) throw once.error
  const attempts = once.sandbox.traffic.of('attempt').filter(({ kind }) => kind === 'message')
  const deliveries = attempts.length
  if (deliveries === 0) {
    throw new TypeError('expectIdempotent(): nothing was delivered. Publish a message in `deliver`.')
  }
  if (under.includes('reorder') && new Set(attempts.map(({ messageId }) => messageId)).size < 2) {
    throw new TypeError(
      "expectIdempotent(): 'reorder' needs two messages. Publish another one in `deliver`, or leave it out of `under`.",
    )
  }
  if (!attempts.some(({ outcome }) => outcome?.state === 'DELIVERED')) {
    const { outcome } = attempts[0]!
    throw new Error(
      `expectIdempotent(): without any fault no message was delivered: ${outcome?.note ?? outcome?.error ?? `answered ${outcome?.status}`}.`,
    )
  }
  const wanted = told(once, options)
  const error = await unrepeatable(subject, options, wanted)
  if (error !== undefined) throw error
  // The last one has none behind it that it could change places with.
  const placesOf = { reorder: deliveries - 1, 'lost-call': once.sandbox.traffic.of('outbound').length }
  const places = under.flatMap((repetition) => {
    const length = (placesOf as Partial<Record<Repetition, number>>)[repetition] ?? deliveries
    return Array.from({ length }, (_, skip) => ({ repetition, skip }))
  })
  for (const place of chosen(places, options.only)) await compare(subject, options, place, wanted)
}

/** A handler whose effects are other ones each time cannot be told from one that does things twice. */
async function unrepeatable(
  subject: DeliverySubject,
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
  readonly repetition: Repetition
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
      `expectIdempotent(): \`only\` names ${JSON.stringify(name)}, and there are ${places.map(placeName).join(', ')}.`,
    )
  })
}

async function compare(
  subject: DeliverySubject,
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
    const replay = `expectIdempotent(handler, { …, only: ['${placeName(place)}'] })`
    const timeline = run.sandbox.traffic.timeline({ limit: 80 })
    const error = new Error(
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
    error.name = 'NotIdempotent'
    error.stack = `${error.name}: ${error.message}`
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
function repetitionOf(name: unknown): Repetition {
  return String(name).split(' ')[0] as Repetition
}

function checkedRepetitions(under: readonly Repetition[] | undefined): readonly Repetition[] {
  const all = Object.keys(repetitions) as Repetition[]
  if (under !== undefined && !Array.isArray(under))
    throw new TypeError(`expectIdempotent(): \`under\` is a list of ${all.join(', ')}.`)
  const unknown = under?.find((name) => !Object.hasOwn(repetitions, name))
  if (unknown !== undefined)
    throw new TypeError(`expectIdempotent() knows no ${JSON.stringify(unknown)}. It knows ${all.join(', ')}.`)
  if (under?.length === 0) throw new TypeError(`expectIdempotent(): \`under\` is empty. It knows ${all.join(', ')}.`)
  return under === undefined ? all : [...new Set(under)]
}
