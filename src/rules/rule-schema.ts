import * as v from 'valibot'
import { catalog, faultKinds } from '../faults/catalog.js'
import type { Fault, FaultRule } from '../faults/fault.js'
import {
  type FaultProblem,
  type FaultWording,
  faultSchema,
  fieldsOfFault,
  nestedFields,
  problemsWith,
} from '../faults/fault-schema.js'
import { type InjectionPoint, injectionPoints } from '../faults/points.js'
import { AddressPattern } from '../kernel/address-pattern.js'
import { CronExpression } from '../kernel/cron.js'
import { parseDuration } from '../kernel/duration.js'
import { instant } from '../kernel/instant.js'
import { once } from '../kernel/once.js'

// What a rule may look like: for tests, files and the control API alike. Each refusal is a sentence with its place.

const count = (least: number, sentence: string): v.GenericSchema<number> =>
  v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence))
const text = v.pipe(v.string('is a string'), v.minLength(1, 'is a string, not an empty one'))
const never = 'would never strike: give a whole number, 1 or more, or leave it out'

/** A time of a window: a span since the rule was added, or an instant. */
const windowTime = v.pipe(
  v.union(
    [v.number(), v.string()],
    "is a span such as '30s' or milliseconds, or a time such as '2030-01-01T09:00:00Z'",
  ),
  v.check(
    (time) =>
      typeof time === 'number'
        ? Number.isFinite(time) && time >= 0
        : parseDuration(time) !== undefined || Number.isFinite(absoluteTime(time)),
    "is a span such as '30s' or milliseconds, or a time such as '2030-01-01T09:00:00Z'",
  ),
)

function absoluteTime(time: string): number {
  try {
    return /^\d{4}-/.test(time) ? instant(time) : Number.NaN
  } catch {
    return Number.NaN
  }
}

/** Milliseconds of one end of a window for a rule that was added at `added`. */
export function windowEnd(time: number | string, added: number): number {
  if (typeof time === 'number') return added + time
  const span = parseDuration(time)
  return span === undefined ? absoluteTime(time) : added + span
}

const urlPattern = v.pipe(
  text,
  v.check((url) => {
    try {
      new AddressPattern(url)
      return true
    } catch {
      return false
    }
  }, "is an absolute url such as 'https://shop.test/*', `*` standing for any characters"),
)

const attemptNumber = count(1, 'is the number of an attempt, 1 for the first')
const matchSchema = once(() =>
  v.strictObject({
    service: v.optional(v.picklist(['store', 'queue', 'stats'], "is 'store', 'queue' or 'stats'")),
    path: v.optional(v.pipe(text, v.regex(/^[/*]/, "is the path of an endpoint and begins with '/'"))),
    method: v.optional(text),
    url: v.optional(urlPattern),
    command: v.optional(text),
    key: v.optional(text),
    urlGroup: v.optional(text),
    endpointName: v.optional(text),
    queue: v.optional(text),
    label: v.optional(text),
    headers: v.optional(v.record(v.string(), v.string('is a string'), 'is an object of names and values')),
    attempt: v.optional(
      v.union(
        [attemptNumber, v.strictObject({ from: v.optional(attemptNumber), to: v.optional(attemptNumber) })],
        'is the number of an attempt, 1 for the first, or { from, to }',
      ),
    ),
    messageId: v.optional(text),
    tenant: v.optional(text),
    flowControlKey: v.optional(text),
    scheduleId: v.optional(text),
    region: v.optional(text),
    workflow: v.optional(urlPattern),
    step: v.optional(text),
    stepType: v.optional(text),
    runId: v.optional(text),
  }),
)

const point = v.picklist(injectionPoints, 'is not a point')

const cron = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    try {
      new CronExpression(dataset.value)
    } catch (error) {
      addIssue({ message: `is not a cron pattern of five fields: ${(error as Error).message}` })
    }
  }),
)

const ruleEntries = once(() => ({
  on: v.union(
    [point, v.pipe(v.array(point), v.minLength(1, 'is a point or a list of points'))],
    'is a point or a list of points',
  ),
  name: v.optional(text),
  match: v.optional(matchSchema()),
  from: v.optional(windowTime),
  until: v.optional(windowTime),
  cron: v.optional(cron),
  skip: v.optional(count(0, 'is a whole number, 0 or more')),
  times: v.optional(v.pipe(count(0, 'is a whole number, 1 or more'), v.minValue(1, never))),
  every: v.optional(count(1, 'is a whole number: 1 for each match, 2 for every second')),
  chance: v.optional(
    v.tuple([count(0, 'is a whole number'), count(1, 'is a whole number, 1 or more')], 'is a pair: [times, outOf]'),
  ),
  phase: v.optional(v.picklist(['before', 'after'], "is 'before' or 'after' (the work)")),
  fault: faultSchema(),
}))

export const faultRuleSchema: () => v.GenericSchema<FaultRule> = once(
  () =>
    v.pipe(
      v.strictObject(ruleEntries()),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return
        const rule = dataset.value as FaultRule
        for (const [field, message] of impossible(rule)) {
          addIssue({
            message,
            input: dataset.value[field],
            path: [{ type: 'object', origin: 'value', input: dataset.value, key: field, value: dataset.value[field] }],
          })
        }
      }),
    ) as v.GenericSchema<FaultRule>,
)

/** Conflicts between fields that are valid one by one. */
function* impossible(
  rule: FaultRule,
): Generator<readonly [field: 'until' | 'chance' | 'fault' | 'phase' | 'match', sentence: string]> {
  const { from, until, chance, phase, fault } = rule
  if (until !== undefined && sameKind(from ?? 0, until) && windowEnd(until, 0) <= windowEnd(from ?? 0, 0)) {
    yield [
      'until',
      `ends the window at ${JSON.stringify(until)}, before or as it begins at ${JSON.stringify(from ?? 0)}`,
    ]
  }
  if (chance !== undefined && chance[0] === 0)
    yield ['chance', never.replace('a whole number, 1 or more', '[1, 10] for one in ten')]
  if (chance !== undefined && chance[0] > chance[1])
    yield ['chance', `strikes ${chance[0]} of ${chance[1]}: the first cannot be more`]
  const definition = catalog[fault.kind]
  const wrong = [rule.on].flat().find((on) => !definition.points.includes(on as InjectionPoint))
  if (wrong !== undefined) yield ['fault', elsewhere(fault, wrong as InjectionPoint)]
  if (phase !== undefined && !definition.phases.includes(phase)) {
    yield ['phase', `is always '${definition.phases[0]}' for ${fault.kind}: leave it out`]
  }
  const odd = definition.oddRule?.(fault as never, rule)
  if (odd !== undefined) yield odd
  const attempt = rule.match?.attempt
  if (typeof attempt === 'object' && (attempt.from ?? 1) > (attempt.to ?? Number.POSITIVE_INFINITY)) {
    yield ['match', `names attempts from ${attempt.from} to ${attempt.to}: there are none`]
  }
}

function sameKind(a: number | string, b: number | string): boolean {
  const relative = (time: number | string): boolean => typeof time === 'number' || parseDuration(time) !== undefined
  return relative(a) === relative(b)
}

function elsewhere(fault: Fault, on: InjectionPoint): string {
  const { points, hints } = catalog[fault.kind]
  const there = faultKinds.filter((kind) => catalog[kind].points.includes(on))
  const hint = hints?.[on] === undefined ? '' : ` ${hints[on]}`
  return `${fault.kind} cannot strike at ${on}. It strikes at ${points.join(', ')}; at ${on} there are ${there.join(', ')}.${hint}`
}

/** Every problem of a rule, in the order of its fields; an empty list for a good one. */
export function ruleProblems(value: unknown): readonly FaultProblem[] {
  return problemsWith(faultRuleSchema(), value, `A fault rule is an object such as ${exampleRule}`, ruleWords)
}

const exampleRule = "{ on: 'queue.delivery', times: 2, fault: { kind: 'reset' } }"

const ruleWords: FaultWording = {
  wordsAt: (path) => {
    const own = path.at(-1)
    if (own === 'kind') return ['fault', faultKinds]
    return own === 'on' || path.at(-2) === 'on' ? ['point', injectionPoints] : undefined
  },
  fieldsOf: (owner, place) => {
    const ofFault = fieldsOfFault(owner)
    if (ofFault !== undefined) return ofFault
    if (typeof owner === 'object' && owner !== null && ('on' in owner || 'fault' in owner)) {
      return Object.keys(ruleEntries())
    }
    const nested = nestedFields(place)
    if (nested.length > 0) return nested
    return place === 'match.attempt' ? ['from', 'to'] : Object.keys(matchSchema().entries)
  },
}
