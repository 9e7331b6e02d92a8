import { nearestName } from '../kernel/nearest-name.js'
import { type Expectation, expectationOf } from './expectations.js'
import type { ScenarioProblem, ValuePath } from './problems.js'
import { stepOf } from './scenario-steps.js'
import type { ScenarioStep, StepValues } from './step-values.js'
import type { Scenario } from './written-scenario.js'

/** Names that are defined at one point of a scenario, by kind of resource. */
interface KnownNames {
  readonly messages: Set<string>
  readonly urlGroups: Set<string>
  readonly queues: Set<string>
  readonly schedules: Set<string>
  readonly flowControl: Set<string>
  readonly faults: Set<string>
  readonly databases: Set<string>
}

type Kind = keyof KnownNames

const nouns: Readonly<Record<Kind, string>> = {
  messages: 'message',
  urlGroups: 'URL group',
  queues: 'queue',
  schedules: 'schedule',
  flowControl: 'flow-control key',
  faults: 'fault rule',
  databases: 'database',
}

/**
 * Steps whose value is the name of a resource, with the kind of the resource. The resource must exist when the step
 * runs.
 */
const references: { readonly [K in keyof StepValues]?: Kind } = {
  cancel: 'messages',
  deliverNow: 'messages',
  retryDeadLetters: 'messages',
  deleteDeadLetters: 'messages',
  pauseQueue: 'queues',
  resumeQueue: 'queues',
  fireSchedule: 'schedules',
  pauseSchedule: 'schedules',
  resumeSchedule: 'schedules',
  deleteSchedule: 'schedules',
  pauseFlowControl: 'flowControl',
  resumeFlowControl: 'flowControl',
  deleteUrlGroup: 'urlGroups',
  removeFaults: 'faults',
}

/**
 * Returns a problem for each name that steps or expectations use and that does not exist. Also reports an empty
 * scenario.
 */
export function nameProblems(scenario: Scenario): readonly ScenarioProblem[] {
  const problems: ScenarioProblem[] = []
  const { given = {}, faults = [], steps = [], expect = [] } = scenario
  const known: KnownNames = {
    messages: new Set(),
    urlGroups: new Set(Object.keys(given.urlGroups ?? {})),
    queues: new Set(Object.keys(given.queues ?? {})),
    schedules: new Set((given.schedules ?? []).map(({ id }) => id)),
    flowControl: new Set(Object.keys(given.flowControl ?? {})),
    faults: new Set(faults.flatMap(({ name }) => name ?? [])),
    databases: new Set(scenario.databases),
  }
  const { destinations = [], outbound = [] } = scenario
  if (faults.length + steps.length + expect.length + destinations.length + outbound.length === 0) {
    problems.push({ place: [], sentence: 'must not be empty. Add faults, destinations or steps.' })
  }
  const makesRequests = steps.some((step) => 'request' in step)
  const missing = (kind: Kind, name: string, place: ValuePath): void => {
    // A step that sends an HTTP request may create any resource. If the scenario has such a step, check only names of
    // messages, fault rules and databases, because a request cannot define these names.
    if (known[kind].has(name) || (makesRequests && !['messages', 'faults', 'databases'].includes(kind))) return
    const near = nearestName(name, known[kind])
    const names = [...known[kind]]
    const hint =
      near !== undefined
        ? `Did you mean ${JSON.stringify(near)}?`
        : names.length > 0
          ? `Known: ${names.join(', ')}.`
          : `No ${nouns[kind]} exists at this point of the scenario.`
    problems.push({ place, sentence: `there is no ${nouns[kind]} ${JSON.stringify(name)}. ${hint}` })
  }
  for (const name of Object.keys(given.databases ?? {})) missing('databases', name, ['given', 'databases', name])
  for (const [index, { match }] of faults.entries())
    if (match?.database !== undefined) missing('databases', match.database, ['faults', index, 'match', 'database'])
  for (const [index, { to }] of (given.schedules ?? []).entries())
    checkDestination(to, ['given', 'schedules', index, 'to'], missing)
  for (const [index, step] of steps.entries()) checkStep(step, ['steps', index], known, missing)
  for (const [index, expectation] of expect.entries()) checkExpectation(expectation, ['expect', index], missing)
  return problems
}

type Missing = (kind: Kind, name: string, place: ValuePath) => void

function checkDestination(to: string, place: ValuePath, missing: Missing): void {
  if (!/^https?:\/\//.test(to)) missing('urlGroups', to, place)
}

function checkStep(step: ScenarioStep, place: ValuePath, known: KnownNames, missing: Missing): void {
  const [name, value] = stepOf(step)
  const at = [...place, name]
  const kind = references[name]
  if (kind !== undefined) {
    if (value !== 'all' || kind !== 'messages') missing(kind, value as string, at)
    return
  }
  const { database } = value as { readonly database?: string }
  if (database !== undefined) missing('databases', database, [...at, 'database'])
  if ('publish' in step) {
    const { to, as, queue, flowControlKey } = step.publish
    checkDestination(to, [...at, 'to'], missing)
    if (as !== undefined) known.messages.add(as)
    if (queue !== undefined) known.queues.add(queue)
    if (flowControlKey !== undefined) known.flowControl.add(flowControlKey)
  } else if ('schedule' in step) {
    checkDestination(step.schedule.to, [...at, 'to'], missing)
    known.schedules.add(step.schedule.id)
  } else if ('upsertQueue' in step) known.queues.add(step.upsertQueue.name)
  else if ('addEndpoints' in step) known.urlGroups.add(step.addEndpoints.name)
  else if ('pinFlowControl' in step) known.flowControl.add(step.pinFlowControl.key)
  else if ('addFaults' in step)
    for (const rule of [step.addFaults].flat()) if (rule.name !== undefined) known.faults.add(rule.name)
  if ('expect' in step) {
    const list = [step.expect].flat() as readonly Expectation[]
    for (const [index, expectation] of list.entries()) {
      checkExpectation(expectation, Array.isArray(step.expect) ? [...at, index] : at, missing)
    }
  }
}

function checkExpectation(expectation: Expectation, place: ValuePath, missing: Missing): void {
  const [name, value] = expectationOf(expectation)
  const patterns = Array.isArray(value) ? value : [value]
  for (const [index, pattern] of patterns.entries()) {
    const { message, database } = Object(pattern) as { readonly message?: unknown; readonly database?: unknown }
    const at = [...place, name, ...(Array.isArray(value) ? [index] : [])]
    if (typeof message === 'string') missing('messages', message, [...at, 'message'])
    if (typeof database === 'string') missing('databases', database, [...at, 'database'])
  }
}
