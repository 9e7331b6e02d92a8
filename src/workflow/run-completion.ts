import { type Bytes, text } from '../kernel/bytes.js'
import type { Message, RunReply } from '../queue/message/message.js'
import type { RunEngine } from './run-engine.js'
import { writtenStep } from './step.js'
import type { VendorRunState, WorkflowRunState } from './workflow-run.js'

/** Ends runs: with a result, a cancellation, or a failure. [workflow.md 9, 10, 11] */
export class RunCompletion {
  readonly #engine: RunEngine

  constructor(engine: RunEngine) {
    this.#engine = engine
  }

  /** Ends a run with its result. @throws Refusal 404 when no such run is running */
  end(id: string, result: Bytes, cause?: number, createdAt?: string): WorkflowRunState {
    const run = this.#engine.running(id, createdAt)
    this.#engine.hide(run, cause)
    run.result = result
    this.#conclude(run, 'RUN_SUCCESS', cause)
    return run
  }

  /** Cancels a run. @throws Refusal 404 when no such run is running */
  cancel(id: string, cause?: number, createdAt?: string): WorkflowRunState {
    const run = this.#engine.running(id, createdAt)
    this.#conclude(run, 'RUN_CANCELED', cause)
    return run
  }

  /** Fails a run, because one of its messages became a dead letter. */
  fail(run: WorkflowRunState, message: Message, { status, headers, body, error }: RunReply, dlqId: string): void {
    if (!run.isStarted) return
    run.failure = { status, headers, body, error, message, dlqId }
    this.#conclude(run, 'RUN_FAILED', message.lastEntrySeq)
  }

  #conclude(run: WorkflowRunState, state: Exclude<VendorRunState, 'RUN_STARTED'>, cause?: number): void {
    run.state = state
    run.completedAt = Math.max(run.createdAt, this.#engine.now())
    this.#engine.register.ended(run)
    this.#engine.waits.drop(run)
    run.letAllGo()
    const { courier } = this.#engine.queue
    for (const { message } of run.entries) {
      // The run ends during the delivery that reported the end. This delivery will still get its response.
      if (message.running && state === 'RUN_SUCCESS') continue
      courier.drop(message)
    }
    for (const callback of run.callbacks ?? []) courier.drop(callback)
    this.#engine.note(run, state, cause)
    this.#tellInvoker(run, state)
  }

  /** If another run invoked this run, submits the result to the step that invoked it. [workflow.md 9] */
  #tellInvoker(run: WorkflowRunState, state: VendorRunState): void {
    const { invoker, result } = run
    if (invoker === undefined) return
    const parent = this.#engine.get(invoker.runId)
    // The ID may belong to a later run by now.
    if (parent === undefined || !parent.isOf(invoker.createdAt)) return
    const isFailed = state === 'RUN_FAILED'
    const isCanceled = state === 'RUN_CANCELED'
    const body = isFailed || isCanceled || result === undefined || result === '' ? undefined : text(result)
    const step = { ...invoker.step, out: JSON.stringify({ body, isFailed, isCanceled }) }
    if (!parent.isStarted) {
      parent.finish(parent.record(invoker.step, this.#engine.now()), step)
      return
    }
    this.#engine.append(
      parent,
      invoker.url,
      writtenStep(step),
      this.#engine.settingsOf(parent, invoker.headers),
      undefined,
    )
  }
}
