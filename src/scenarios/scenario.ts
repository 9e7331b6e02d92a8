import * as v from 'valibot'
import type { FaultRule } from '../faults/fault.js'
import { maxSpan } from '../faults/fault-values.js'
import { responseEntries } from '../faults/step-schema.js'
import { milliseconds } from '../kernel/duration.js'
import { once } from '../kernel/once.js'
import { bytesOf } from '../kernel/portable.js'
import { policySchema } from '../policy/schema.js'
import { dialectNames } from '../protocol/dialect.js'
import { engineOf } from '../queue/queue-internals.js'
import { checkDatabases } from '../sandbox/databases.js'
import type { Sandbox, SandboxOptions } from '../sandbox/sandbox.js'
import { recordInternal } from '../sandbox/sandbox-internals.js'
import type { Store } from '../store/direct-store.js'
import { storedValue } from '../store/dump/portable-values.js'
import type { DumpedKey } from '../store/dump/store-dump.js'
import { searchLoading } from '../store/search/load-search.js'
import { createSchedule } from './actions.js'
import { expectationList } from './expectations.js'
import { outboundScript, ruleList, script } from './fault-schemas.js'
import { placeText, problemsOf, type ScenarioProblem, type ValuePath } from './problems.js'
import { nameProblems } from './scenario-names.js'
import { members, scheduleEntries, stepKinds, stepNames } from './scenario-steps.js'
import {
  duration,
  fitsSpan,
  name,
  outboundUrl,
  positive,
  ratePeriod,
  scenarioArgv,
  scenarioInstant,
  secondsOf,
  url,
} from './values.js'
import type { Scenario, ScenarioDestination, ScenarioGiven } from './written-scenario.js'

const stepSchema = (): v.GenericSchema =>
  v.union(
    stepNames.map((key) =>
      v.pipe(v.strictObject({ [key]: stepKinds[key].schema() }), v.description(stepKinds[key].summary)),
    ),
  )

const flowEntries = (): Record<string, v.GenericSchema> => ({
  parallelism: v.exactOptional(positive),
  rate: v.exactOptional(positive),
  period: v.exactOptional(ratePeriod),
  paused: v.exactOptional(v.boolean()),
})

const contentEntries = {
  store: v.exactOptional(
    v.pipe(
      v.looseObject({ format: v.literal('stuntdouble/store'), keys: v.array(v.looseObject({})) }),
      v.description('Result of store.dump().'),
    ),
  ),
  commands: v.exactOptional(v.pipe(v.array(scenarioArgv), v.description('Commands of the store, run in order.'))),
}

const givenSchema = (): v.GenericSchema =>
  v.strictObject({
    ...contentEntries,
    databases: v.exactOptional(
      v.pipe(
        v.record(v.string(), v.strictObject(contentEntries)),
        v.description('Content of the added databases, by name.'),
      ),
    ),
    urlGroups: v.exactOptional(v.record(v.string(), members)),
    queues: v.exactOptional(
      v.record(
        v.string(),
        v.strictObject({ parallelism: v.exactOptional(positive), paused: v.exactOptional(v.boolean()) }),
      ),
    ),
    schedules: v.exactOptional(v.array(v.strictObject(scheduleEntries))),
    flowControl: v.exactOptional(v.record(v.string(), v.strictObject(flowEntries()))),
    signingKeys: v.exactOptional(v.strictObject({ current: name, next: name })),
  })

const timedAnswer = (): v.GenericSchema =>
  v.strictObject({
    ...responseEntries,
    delay: v.exactOptional(
      v.pipe(
        duration,
        v.check(
          fitsSpan((span) => span <= maxSpan),
          'must be at most 1e12 milliseconds',
        ),
        v.description('Virtual time from the request to the response.'),
      ),
    ),
  })

const destinationSchema = (): v.GenericSchema =>
  v.strictObject({
    url,
    script: v.exactOptional(
      v.pipe(
        script(),
        v.description(
          'Steps for the first deliveries. Each delivery uses up one step. A number is the status of a response.',
        ),
      ),
    ),
    recorded: v.exactOptional(
      v.pipe(
        script(),
        v.description(
          'Responses that production recorded. They are played unless code under test responds at the URL.',
        ),
      ),
    ),
    response: v.exactOptional(
      v.pipe(timedAnswer(), v.description('Response to all other deliveries. Default: status 200.')),
    ),
  })

const callSchema = (): v.GenericSchema =>
  v.strictObject({
    url: outboundUrl,
    script: v.exactOptional(
      v.pipe(
        outboundScript(),
        v.description(
          'Steps for the first requests. Each request uses up one step. A number is the status of a response.',
        ),
      ),
    ),
    response: v.exactOptional(
      v.pipe(timedAnswer(), v.description('Response to all other requests. Default: status 200.')),
    ),
  })

/** Returns the schema of a scenario. The JSON schema for editors is generated from it. */
export const scenarioSchema: () => v.GenericSchema = once(() =>
  v.strictObject({
    $schema: v.exactOptional(v.string()),
    name: v.pipe(v.string(), v.minLength(1, 'must not be empty')),
    description: v.exactOptional(v.pipe(v.string(), v.description('Description for people.'))),
    seed: v.exactOptional(v.pipe(v.union([v.number(), v.string()]), v.description('Seed of all random decisions.'))),
    startAt: v.exactOptional(v.pipe(scenarioInstant, v.description('Virtual time at the start.'))),
    dialect: v.exactOptional(v.picklist(dialectNames)),
    policy: v.exactOptional(
      v.pipe(policySchema(), v.description('Policies that differ from their defaults, by name.')),
    ),
    databases: v.exactOptional(
      v.pipe(
        v.array(v.string()),
        v.rawCheck(({ dataset, addIssue }) => {
          const problem = dataset.typed ? databaseProblem(dataset.value) : undefined
          if (problem !== undefined) addIssue({ message: problem })
        }),
        v.description('Names of databases that are added to the data store.'),
      ),
    ),
    given: v.exactOptional(v.pipe(givenSchema(), v.description('Initial state.'))),
    destinations: v.exactOptional(
      v.pipe(v.array(destinationSchema()), v.description('Destinations of deliveries, and how they respond.')),
    ),
    outbound: v.exactOptional(
      v.pipe(
        v.array(callSchema()),
        v.description('External hosts to which the app sends requests, and how they respond.'),
      ),
    ),
    faults: v.exactOptional(
      v.pipe(ruleList(), v.description('Fault rules, in the order in which they are evaluated.')),
    ),
    steps: v.exactOptional(
      v.pipe(v.array(stepSchema()), v.description('Steps of the scenario, which run in this order.')),
    ),
    expect: v.exactOptional(v.pipe(expectationList(), v.description('Expectations that must hold at the end.'))),
  }),
)

export function scenarioProblems(given: unknown): readonly ScenarioProblem[] {
  const problems = problemsOf(scenarioSchema(), given)
  if (problems.length > 0) return problems
  return [...dumpProblems(given as Scenario), ...nameProblems(given as Scenario)]
}

/** Returns the problem of a list of databases as the end of a message about it, or `undefined`. */
function databaseProblem(databases: readonly string[]): string | undefined {
  try {
    checkDatabases(databases)
    return undefined
  } catch (error) {
    return (error as Error).message.replace(/^databases:? /, '')
  }
}

/** Returns a problem for each key in the dumps of the initial state that cannot be loaded. */
function dumpProblems({ given }: Scenario): readonly ScenarioProblem[] {
  return [
    ...keyProblems(given?.store, ['given', 'store']),
    ...Object.entries(given?.databases ?? {}).flatMap(([name, { store }]) =>
      keyProblems(store, ['given', 'databases', name, 'store']),
    ),
  ]
}

function keyProblems(store: object | undefined, place: ValuePath): readonly ScenarioProblem[] {
  const { keys } = (store ?? { keys: [] }) as { keys: readonly DumpedKey[] }
  return keys.flatMap((dumped, index) => {
    try {
      bytesOf(dumped.key)
      storedValue(dumped)
      return []
    } catch (error) {
      return [
        {
          place: [...place, 'keys', index],
          sentence: `must be a key of a dump: ${(error as Error).message}`,
        },
      ]
    }
  })
}

/**
 * Checks a scenario and returns it as plain data.
 * @example
 * const outage = defineScenario('checkout outage', [
 *   { on: 'queue.delivery', match: { url: 'https://shop.test/*' }, times: 2, fault: fault.hang() },
 * ])
 * @throws TypeError with every problem and its location
 */
export function defineScenario(name: string, faults: readonly FaultRule[] | FaultRule): Scenario
export function defineScenario(scenario: Scenario): Scenario
export function defineScenario(given: Scenario | string, faults?: readonly FaultRule[] | FaultRule): Scenario {
  const scenario = typeof given === 'string' ? { name: given, faults: [faults].flat() } : given
  return checkedScenario(scenario, typeof given === 'string' ? `The scenario ${JSON.stringify(given)}` : 'The scenario')
}

function calledBy(given: unknown): string {
  const { name } = (given ?? {}) as { readonly name?: unknown }
  return typeof name === 'string' ? `The scenario ${JSON.stringify(name)}` : 'The scenario'
}

/**
 * Checks a scenario and returns it as plain data.
 * @param called subject of the error message, such as `The scenario "outage"`
 * @throws TypeError with every problem and its location
 */
export function checkedScenario(given: unknown, called: string = calledBy(given)): Scenario {
  const plain = asPlainData(given, called)
  const problems = scenarioProblems(plain)
  if (problems.length === 0) return plain as Scenario
  const lines = problems.map(({ place, called = place, sentence }) => `${placeText(called) || 'scenario'}: ${sentence}`)
  throw new TypeError(`${called} is invalid. Fix these problems:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** Returns a copy that contains only JSON data. Fields that are `undefined` are omitted. */
function asPlainData(given: unknown, called: string): unknown {
  const odd = oddValue(given, '', 0)
  if (odd !== undefined) throw new TypeError(`${called} must be plain data, but ${odd}.`)
  return given === undefined ? undefined : JSON.parse(JSON.stringify(given))
}

export const deepest = 100

function oddValue(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === 'function') return `${path || 'the value'} is a function. Call it`
  if (typeof value === 'bigint' || typeof value === 'symbol') return `${path} is a ${typeof value}`
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > deepest) return `${path} is nested deeper than ${deepest} levels`
  for (const [key, item] of Object.entries(value)) {
    const odd = oddValue(item, path === '' ? key : `${path}.${key}`, depth + 1)
    if (odd !== undefined) return odd
  }
  return undefined
}

export function sandboxOptionsOf(scenario: Scenario): SandboxOptions {
  const { seed, startAt, dialect, policy, databases, given } = scenario
  return {
    ...(seed !== undefined && { seed }),
    ...(startAt !== undefined && { startAt }),
    ...(dialect !== undefined && { dialect }),
    ...(policy !== undefined && { policy }),
    ...(databases !== undefined && { databases }),
    ...(given?.signingKeys !== undefined && { signingKeys: given.signingKeys }),
  }
}

/**
 * Loads the search engine if the initial state of the scenario uses search. Returns `undefined` if nothing must be
 * loaded.
 */
export function loadGiven({ given }: Scenario): Promise<void> | undefined {
  const contents = [given ?? {}, ...Object.values(given?.databases ?? {})]
  // Search the dumps, too: they may contain search indexes, whose languages determine what must be loaded.
  const texts = contents.flatMap(({ store, commands = [] }) => [
    ...commands.flat().map(String),
    ...(store === undefined ? [] : [JSON.stringify(store)]),
  ])
  return searchLoading(texts)
}

export function applyGiven(scenario: Scenario, sandbox: Sandbox): void {
  const { databases, urlGroups, queues, schedules, flowControl } = scenario.given ?? {}
  applyContent(scenario.given ?? {}, sandbox.store)
  for (const [name, content] of Object.entries(databases ?? {})) applyContent(content, sandbox.storeIn(name))
  for (const [group, endpoints] of Object.entries(urlGroups ?? {}))
    sandbox.queue.urlGroups.addEndpoints(group, endpoints)
  for (const [queue, { parallelism = 1, paused }] of Object.entries(queues ?? {}))
    sandbox.queue.upsertQueue(queue, { parallelism, paused })
  for (const [key, { paused, period, ...limits }] of Object.entries(flowControl ?? {})) {
    recordInternal(sandbox, ({ queue }) => {
      const { flow } = engineOf(queue)
      if (Object.keys(limits).length > 0 || period !== undefined) {
        flow.pin(key, { ...limits, period: secondsOf(period) })
      }
      if (paused === true) flow.pause(key)
    })
  }
  for (const schedule of schedules ?? []) createSchedule(schedule, sandbox)
}

function applyContent({ store: dump, commands }: Pick<ScenarioGiven, 'store' | 'commands'>, store: Store): void {
  if (dump !== undefined) store.load(dump as never)
  for (const argv of commands ?? []) store.run(...argv)
}

/**
 * Registers the destinations of a scenario. Skips destinations with recorded responses. Also skips destinations for
 * which code outside the scenario responds.
 */
export function prepareDestinations(scenario: Scenario, sandbox: Sandbox, isElsewhere: (url: string) => boolean): void {
  for (const destination of scenario.destinations ?? []) {
    if (!isElsewhere(destination.url) && destination.recorded === undefined) register(destination, sandbox)
  }
}

/**
 * Registers a destination of the scenario. It responds to the first deliveries with the steps of `script`, and to the
 * next ones with those of `recorded`. All later deliveries get `response`.
 */
export function register(
  { url, script, recorded, response: answer = {} }: ScenarioDestination,
  sandbox: Sandbox,
): void {
  const { delay = 0, status = 200, headers, body } = answer
  sandbox.destinations.respond(url, async (_delivery, task) => {
    if (milliseconds(delay) > 0) await task.sleep(milliseconds(delay))
    return { status, ...(headers && { headers }), ...(body !== undefined && { body: body as object }) }
  })
  for (const steps of [script, recorded])
    if (steps !== undefined && steps.length > 0) sandbox.destinations.script(url, steps as never)
}

export function prepareOutbound({ outbound = [] }: Scenario, sandbox: Sandbox): void {
  for (const { url, script = [], response: answer = {} } of outbound) {
    const { delay = 0, status = 200, headers, body } = answer
    sandbox.outbound.respond(url, async (_call, task) => {
      if (milliseconds(delay) > 0) await task.sleep(milliseconds(delay))
      return { status, ...(headers && { headers }), ...(body !== undefined && { body: body as object }) }
    })
    if (script.length > 0) sandbox.outbound.script(url, script)
  }
}
