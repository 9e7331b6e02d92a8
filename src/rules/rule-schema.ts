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
import { parseCron } from '../kernel/cron.js'
import { parseDuration } from '../kernel/duration.js'
import { instant } from '../kernel/instant.js'
import { once } from '../kernel/once.js'

// The schema of a fault rule, which tests, scenario files and the control API share.
// Each error message names the field.

const count = (least: number, sentence: string): v.GenericSchema<number> =>
  v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence))
const text = v.pipe(v.string('must be a string'), v.minLength(1, 'must be a non-empty string'))

/** Schema of `from` and `until`: a duration after the rule was added, or an instant. */
const windowTime = v.pipe(
  v.union(
    [v.number(), v.string()],
    "must be a duration such as '30s', milliseconds, or an instant such as '2030-01-01T09:00:00Z'",
  ),
  v.check(
    (time) =>
      typeof time === 'number'
        ? Number.isFinite(time) && time >= 0
        : parseDuration(time) !== undefined || Number.isFinite(absoluteTime(time)),
    "must be a duration such as '30s', milliseconds, or an instant such as '2030-01-01T09:00:00Z'",
  ),
)

function absoluteTime(time: string): number {
  try {
    return /^\d{4}-/.test(time) ? instant(time) : Number.NaN
  } catch {
    return Number.NaN
  }
}

/**
 * Returns the instant of `from` or `until` in milliseconds.
 * @param added the instant at which the rule was added
 */
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
  }, "must be an absolute URL such as 'https://shop.test/*', in which `*` matches any characters"),
)

const attemptNumber = count(1, 'must be the number of an attempt, 1 for the first')
const matchSchema = once(() =>
  v.strictObject({
    service: v.optional(v.picklist(['store', 'queue', 'stats'], "must be 'store', 'queue' or 'stats'")),
    path: v.optional(v.pipe(text, v.regex(/^[/*]/, "must be a path that begins with '/'"))),
    method: v.optional(text),
    url: v.optional(urlPattern),
    command: v.optional(text),
    key: v.optional(text),
    urlGroup: v.optional(text),
    endpointName: v.optional(text),
    queue: v.optional(text),
    label: v.optional(text),
    headers: v.optional(v.record(v.string(), v.string('must be a string'), 'must be an object of names and values')),
    attempt: v.optional(
      v.union(
        [attemptNumber, v.strictObject({ from: v.optional(attemptNumber), to: v.optional(attemptNumber) })],
        'must be the number of an attempt, 1 for the first, or { from, to }',
      ),
    ),
    messageId: v.optional(text),
    tenant: v.optional(text),
    flowControlKey: v.optional(text),
    scheduleId: v.optional(text),
    region: v.optional(text),
    database: v.optional(text),
    workflow: v.optional(urlPattern),
    step: v.optional(text),
    stepType: v.optional(text),
    runId: v.optional(text),
  }),
)

const point = v.picklist(injectionPoints, 'must be an injection point')

const cron = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    try {
      parseCron(dataset.value)
    } catch (error) {
      addIssue({ message: `must be a cron pattern of five fields: ${(error as Error).message}` })
    }
  }),
)

const ruleEntries = once(() => ({
  on: v.union(
    [point, v.pipe(v.array(point), v.minLength(1, 'must be an injection point or a non-empty list of them'))],
    'must be an injection point or a non-empty list of them',
  ),
  name: v.optional(text),
  match: v.optional(matchSchema()),
  from: v.optional(windowTime),
  until: v.optional(windowTime),
  cron: v.optional(cron),
  skip: v.optional(count(0, 'must be a whole number, at least 0')),
  times: v.optional(count(1, 'must be a whole number, at least 1')),
  every: v.optional(count(1, 'must be a whole number: 1 for every match, 2 for every second')),
  chance: v.optional(
    v.tuple(
      [count(0, 'must be a whole number, at least 0'), count(1, 'must be a whole number, at least 1')],
      'must be a pair [times, outOf]',
    ),
  ),
  phase: v.optional(v.picklist(['before', 'after'], "must be 'before' or 'after' (the processing of the request)")),
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

/** Yields a message for each pair of fields that conflict, although each field is valid. */
function* impossible(
  rule: FaultRule,
): Generator<readonly [field: 'until' | 'chance' | 'fault' | 'phase' | 'match', sentence: string]> {
  const { from, until, chance, phase, fault } = rule
  if (until !== undefined && sameKind(from ?? 0, until) && windowEnd(until, 0) <= windowEnd(from ?? 0, 0)) {
    yield ['until', `must be after 'from' (got ${JSON.stringify(until)}, with 'from' ${JSON.stringify(from ?? 0)})`]
  }
  if (chance !== undefined && chance[0] === 0)
    yield ['chance', `must be above 0, such as [1, 10] for one in ten (got ${JSON.stringify(chance)})`]
  if (chance !== undefined && chance[0] > chance[1])
    yield ['chance', `must not be above 1 (got ${JSON.stringify(chance)})`]
  const definition = catalog[fault.kind]
  const wrong = [rule.on].flat().find((on) => !definition.points.includes(on as InjectionPoint))
  if (wrong !== undefined) yield ['fault', elsewhere(fault, wrong as InjectionPoint)]
  if (phase !== undefined && !definition.phases.includes(phase)) {
    yield ['phase', `must be '${definition.phases[0]}' or omitted for ${fault.kind} (got '${phase}')`]
  }
  const odd = definition.oddRule?.(fault as never, rule)
  if (odd !== undefined) yield odd
  const attempt = rule.match?.attempt
  if (typeof attempt === 'object' && (attempt.from ?? 1) > (attempt.to ?? Number.POSITIVE_INFINITY)) {
    yield ['match', `must not have attempt.from above attempt.to (got from ${attempt.from} to ${attempt.to})`]
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
  return `${fault.kind} has no effect at ${on}. Use it at ${points.join(', ')}; at ${on} use ${there.join(', ')}.${hint}`
}

/** Returns all problems of a rule, in the order of its fields; an empty list if the rule is valid. */
export function ruleProblems(value: unknown): readonly FaultProblem[] {
  return problemsWith(faultRuleSchema(), value, `a fault rule must be an object such as ${exampleRule}`, ruleWords)
}

const exampleRule = "{ on: 'queue.delivery', times: 2, fault: { kind: 'reset' } }"

const ruleWords: FaultWording = {
  whole: 'the rule',
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
