import { shortened } from '../kernel/dump-problems.js'
import { bytesOf } from '../kernel/portable.js'
import type { DumpedPart, DumpedReply, DumpedRun, DumpedWait, RunsToLoad } from '../queue/dump/dumped-run-rows.js'
import { readable } from '../queue/dump/portable-settings.js'
import type { Message, RunMessage } from '../queue/message/message.js'
import type { RunEngine } from './run-engine.js'
import { CallbackMessage, CallMessage, FailurePart, StepMessage } from './run-messages.js'
import { type StepRecord, type StoredReply, type Wait, WorkflowRunState } from './workflow-run.js'

type Messages = ReadonlyMap<string, Message>
interface Loaded {
  readonly run: WorkflowRunState
  readonly dumped: DumpedRun
}

/** The runs of a dump. Several of them may have the same ID. */
class LoadedRuns {
  readonly rows: Loaded[] = []
  readonly #byId = new Map<string, Loaded[]>()

  add(loaded: Loaded): void {
    this.rows.push(loaded)
    const same = this.#byId.get(loaded.run.id)
    if (same === undefined) this.#byId.set(loaded.run.id, [loaded])
    else same.push(loaded)
  }

  /** @param incarnation number of earlier runs with the same ID */
  get(id: string, incarnation = 0): Loaded | undefined {
    return this.#byId.get(id)?.[incarnation]
  }
}

/** Restores the runs of a dump, oldest first. The references between runs are restored after that. */
export function loading(
  engine: RunEngine,
  dumped: readonly DumpedRun[],
  add: (run: WorkflowRunState) => void,
): RunsToLoad {
  const all = new LoadedRuns()
  for (const [index, row] of dumped.entries()) {
    const run = runOf(engine, row, index + 1)
    all.add({ run, dumped: row })
    add(run)
  }
  const held = new Set(dumped.flatMap((row) => row.held.map(({ message }) => message)))
  return {
    partOf: (part) => {
      const loaded = all.get(part.id, part.incarnation)
      return loaded && partOf(engine, loaded.run, part)
    },
    isHeld: (messageId) => held.has(messageId),
    complete: (messages) => {
      for (const loaded of all.rows) complete(loaded, messages, all)
      for (const message of messages.values()) {
        checkPlace(message)
        if (message.part instanceof CallbackMessage && !message.isEnded) message.part.accepted(message)
      }
      restoreWaits(engine, all.rows)
    },
  }
}

function runOf({ queue }: RunEngine, dumped: DumpedRun, seq: number): WorkflowRunState {
  const { id, createdAt, url, features, applies, callerIp, region, state } = dumped
  const { raw, given } = readable(dumped.settings, dumped.headers)
  const settings = queue.publisher.settings(raw, queue.wordsNamed(dumped.words), given)
  const run = new WorkflowRunState(id, seq, createdAt, url, new Set(features), { settings, applies }, callerIp, region)
  run.state = state
  run.completedAt = dumped.completedAt
  if (dumped.result !== undefined) run.result = bytesOf(dumped.result)
  if (dumped.failureReply !== undefined) run.failureReply = replyOf(dumped.failureReply)
  if (dumped.exceeded !== undefined) run.exceeded = dumped.exceeded
  run.announced = dumped.announced === true
  run.byRest = dumped.byRest === true
  if (dumped.invoker !== undefined) run.invoker = dumped.invoker
  if (dumped.early.length > 0)
    run.early = new Map(dumped.early.map(({ eventId, events }) => [eventId, events.map(bytesOf)]))
  for (const { stepId, stepName, stepType, concurrent, createdAt: at, result, plan } of dumped.steps) {
    if (run.steps.some((record) => record.stepId === stepId))
      throw new TypeError(`The dump is invalid: run ${shortened(id)} has two steps ${stepId}.`)
    const record: StepRecord = { stepId, stepName, stepType, concurrent, createdAt: at, message: undefined, result }
    if (plan !== undefined) record.plan = plan
    run.addRecord(record)
  }
  return run
}

function replyOf({ status, headers, body, error }: DumpedReply): StoredReply {
  return { status, headers, body: bytesOf(body), ...(error !== undefined && { error }) }
}

function partOf(
  engine: RunEngine,
  run: WorkflowRunState,
  { as, index = 0, announces, stepSettings, overflows, stepId }: DumpedPart,
): RunMessage {
  if (as === 'failure') return new FailurePart(run, engine)
  if (as === 'step') return new StepMessage(run, engine, index, { announces, stepSettings, overflows })
  const record = stepId === undefined ? undefined : recordOf(run, stepId)
  return as === 'call' ? new CallMessage(run, engine, record) : new CallbackMessage(run, engine, record)
}

function recordOf(run: WorkflowRunState, stepId: number): StepRecord {
  const record = run.steps.find((one) => one.stepId === stepId)
  if (record !== undefined) return record
  throw new TypeError(`The dump is invalid: run ${shortened(run.id)} refers to step ${stepId}, which it does not have.`)
}

function complete({ run, dumped }: Loaded, messages: Messages, all: LoadedRuns): void {
  const messageOf = (id: string): Message => {
    const message = messages.get(id)
    if (message !== undefined) return message
    throw new TypeError(
      `The dump is invalid: run ${shortened(run.id)} refers to message ${shortened(id)}, which is not in the dump.`,
    )
  }
  for (const { message, callType } of dumped.entries) run.entries.push({ message: messageOf(message), callType })
  for (const { message, callType } of run.entries) if (callType === 'stepConfig') run.requested(message)
  for (const [index, { message, planMessage, call, invoked, invokedIncarnation }] of dumped.steps.entries()) {
    const record = run.steps[index]!
    if (message !== undefined) record.message = messageOf(message)
    if (planMessage !== undefined) record.planMessage = messageOf(planMessage)
    if (call !== undefined)
      record.call = {
        message: messageOf(call.message),
        ...(call.reply !== undefined && { reply: replyOf(call.reply) }),
      }
    if (invoked !== undefined) record.invoked = all.get(invoked, invokedIncarnation)?.run ?? missingRun(run, invoked)
  }
  for (const { message, behind } of dumped.held) {
    const waits = behind.map(messageOf).filter((one) => !one.isEnded)
    if (waits.length === 0)
      throw new TypeError(`The dump is invalid: message ${shortened(message)} waits for attempts that have all ended.`)
    run.hold(messageOf(message), new Set(waits))
  }
  if (dumped.failureFunction !== undefined) run.failureFunction = messageOf(dumped.failureFunction)
  const { failure } = dumped
  if (failure !== undefined)
    run.failure = { ...replyOf(failure), message: messageOf(failure.message), dlqId: failure.dlqId }
}

/** Checks that the list of a run has an entry at the position that a delivery names. */
function checkPlace({ id, part }: Message): void {
  if (!(part instanceof StepMessage) || part.index < part.run.entries.length) return
  const { run } = part
  throw new TypeError(
    `The dump is invalid: message ${shortened(id)} is entry ${part.index} of run ${shortened(run.id)}, whose list has ${run.entries.length}.`,
  )
}

function missingRun(run: WorkflowRunState, id: string): never {
  throw new TypeError(
    `The dump is invalid: run ${shortened(run.id)} has invoked run ${shortened(id)}, which is not in the dump.`,
  )
}

/**
 * Restores the pending waits in the order in which they began. If a step has several waits, its record refers to the
 * last one.
 */
function restoreWaits({ waits }: RunEngine, loaded: readonly Loaded[]): void {
  const waiting: { readonly wait: Wait; readonly turn: number }[] = []
  for (const { run, dumped } of loaded) {
    for (const row of dumped.waits) {
      const record = recordOf(run, row.stepId)
      const wait = waitOf(run, record, row)
      record.wait = wait
      if (wait.state === 'waiting' && run.isStarted) waiting.push({ wait, turn: row.turn ?? 0 })
    }
  }
  for (const { wait } of waiting.sort((a, b) => a.turn - b.turn)) waits.restore(wait)
}

function waitOf(run: WorkflowRunState, record: StepRecord, { stepId: _, turn: __, ...row }: DumpedWait): Wait {
  return { ...row, run, record }
}
