import { portableString } from '../kernel/portable.js'
import type {
  DumpedPart,
  DumpedReply,
  DumpedRun,
  DumpedStep,
  DumpedStepBody,
  DumpedWait,
  RunsOfDump,
} from '../queue/dump/dumped-run-rows.js'
import { portableDialect, portableHeaders, portableSettings } from '../queue/dump/portable-settings.js'
import type { Message } from '../queue/message/message.js'
import { CallbackMessage, CallMessage, FailurePart, runOf, StepMessage } from './run-messages.js'
import type { StepBody } from './step.js'
import type { StepRecord, StoredReply, Wait, WorkflowRunState } from './workflow-run.js'
import type { Waits } from './workflow-waits.js'

/** Returns the runs of a dump as JSON: the runs in memory, and removed runs to which a message still belongs. */
export function dumpOf(
  remembered: readonly WorkflowRunState[],
  known: Iterable<Message>,
  waits: Waits,
  urls: readonly string[],
): RunsOfDump {
  const runs = new Set(remembered)
  const messages = new Set<Message>()
  const gather = (message: Message): void => {
    const run = runOf(message)
    if (run !== undefined) runs.add(run)
  }
  for (const message of known) gather(message)
  for (const run of runs) {
    for (const message of messagesOf(run)) {
      messages.add(message)
      gather(message)
    }
  }
  const turns = new Map([...waits.all()].map((wait, turn) => [wait, turn]))
  const sorted = [...runs].sort((a, b) => a.seq - b.seq)
  const places = placesOf(sorted)
  return {
    runs: sorted.map((run) => dumpedRun(run, places, turns)),
    urls,
    messages,
    partOf: (message) => dumpedPart(message, places),
  }
}

/** How a dump refers to a run: by its ID, and by the number of earlier runs with the same ID. */
interface RunPlace {
  readonly id: string
  readonly incarnation?: number
}

function placesOf(runs: readonly WorkflowRunState[]): ReadonlyMap<WorkflowRunState, RunPlace> {
  const counts = new Map<string, number>()
  return new Map(
    runs.map((run) => {
      const { id } = run
      const incarnation = counts.get(id) ?? 0
      counts.set(id, incarnation + 1)
      return [run, { id, ...(incarnation > 0 && { incarnation }) }]
    }),
  )
}

function* messagesOf({ entries, steps, held, failureFunction, failure }: WorkflowRunState): Generator<Message> {
  for (const { message } of entries) yield message
  for (const { message, planMessage, call } of steps) {
    if (message !== undefined) yield message
    if (planMessage !== undefined) yield planMessage
    if (call !== undefined) yield call.message
  }
  for (const [message, behind] of held) {
    yield message
    yield* behind
  }
  if (failureFunction !== undefined) yield failureFunction
  if (failure !== undefined) yield failure.message
}

function dumpedPart(message: Message, places: ReadonlyMap<WorkflowRunState, RunPlace>): DumpedPart | undefined {
  const { part } = message
  const run = runOf(message)
  const place = run && places.get(run)
  if (place === undefined) return undefined
  if (part instanceof StepMessage) {
    const { index, announces, stepSettings, overflows } = part
    return {
      ...place,
      as: 'step',
      index,
      ...(announces && { announces: true as const }),
      ...(stepSettings !== undefined && { stepSettings }),
      ...(overflows && { overflows: true as const }),
    }
  }
  if (part instanceof CallMessage || part instanceof CallbackMessage) {
    const as = part instanceof CallMessage ? 'call' : 'callback'
    return { ...place, as, ...(part.record !== undefined && { stepId: part.record.stepId }) }
  }
  return part instanceof FailurePart ? { ...place, as: 'failure' } : undefined
}

function dumpedRun(
  run: WorkflowRunState,
  places: ReadonlyMap<WorkflowRunState, RunPlace>,
  turns: ReadonlyMap<Wait, number>,
): DumpedRun {
  const { configuration, invoker, failure, failureReply, failureFunction, result, completedAt } = run
  return {
    id: run.id,
    url: run.url,
    createdAt: run.createdAt,
    state: run.state,
    ...(completedAt !== undefined && { completedAt }),
    ...(result !== undefined && { result: portableString(result) }),
    features: [...run.features],
    settings: portableSettings(configuration.settings),
    headers: portableHeaders(configuration.settings.headers),
    words: portableDialect(configuration.settings),
    applies: configuration.applies,
    callerIp: run.callerIp,
    region: run.region,
    entries: run.entries.map(({ message, callType }) => ({ message: message.id, callType })),
    steps: run.steps.map((record) => dumpedStep(record, places)),
    waits: waitsOf(run).map((wait) => dumpedWait(wait, turns.get(wait))),
    held: [...run.held].map(([message, behind]) => ({ message: message.id, behind: [...behind].map(({ id }) => id) })),
    early: [...(run.early ?? [])].map(([eventId, events]) => ({ eventId, events: events.map(portableString) })),
    ...(invoker !== undefined && { invoker: { ...invoker, step: body(invoker.step) } }),
    ...(failureFunction !== undefined && { failureFunction: failureFunction.id }),
    ...(failureReply !== undefined && { failureReply: dumpedReply(failureReply) }),
    ...(failure !== undefined && {
      failure: { ...dumpedReply(failure), message: failure.message.id, dlqId: failure.dlqId },
    }),
    ...(run.exceeded !== undefined && { exceeded: run.exceeded }),
    ...(run.announced && { announced: true }),
    ...(run.byRest && { byRest: true }),
  }
}

function dumpedStep(record: StepRecord, places: ReadonlyMap<WorkflowRunState, RunPlace>): DumpedStep {
  const { stepId, stepName, stepType, concurrent, createdAt, message, result, plan, planMessage, call, invoked } =
    record
  const { id, incarnation } = (invoked && places.get(invoked)) ?? {}
  return {
    stepId,
    stepName,
    stepType,
    concurrent,
    createdAt,
    ...(message !== undefined && { message: message.id }),
    ...(result !== undefined && { result: body(result) }),
    ...(plan !== undefined && { plan: body(plan) }),
    ...(planMessage !== undefined && { planMessage: planMessage.id }),
    ...(call !== undefined && {
      call: { message: call.message.id, ...(call.reply !== undefined && { reply: dumpedReply(call.reply) }) },
    }),
    ...(id !== undefined && { invoked: id }),
    ...(incarnation !== undefined && { invokedIncarnation: incarnation }),
  }
}

/** Returns all waits of a run. If a step has several waits, its latest wait comes last. */
function waitsOf({ waits = new Set(), steps }: WorkflowRunState): readonly Wait[] {
  const latest = new Set(steps.flatMap(({ wait }) => wait ?? []))
  return [...[...waits].filter((wait) => !latest.has(wait)), ...latest]
}

function dumpedWait(wait: Wait, turn: number | undefined): DumpedWait {
  const { record, eventId, step, url, timeout, deadline, timeoutUrl, timeoutHeaders, state } = wait
  return {
    stepId: record.stepId,
    eventId,
    step: body(step),
    url,
    timeout,
    deadline,
    timeoutUrl,
    timeoutHeaders,
    state,
    ...(turn !== undefined && { turn }),
  }
}

function dumpedReply({ status, headers, body, error }: StoredReply): DumpedReply {
  return {
    status,
    headers: headers.map(([name, value]) => [name, value] as const),
    body: portableString(body),
    ...(error !== undefined && { error }),
  }
}

/** Returns a copy of a step without its undefined fields, because JSON has none. */
function body(step: StepBody): DumpedStepBody {
  return JSON.parse(JSON.stringify(step)) as DumpedStepBody
}
