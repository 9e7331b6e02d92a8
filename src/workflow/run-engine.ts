import type { Bytes } from '../kernel/bytes.js'
import type { Records } from '../kernel/indexed-records.js'
import type { Message } from '../queue/message/message.js'
import type { AcceptedPublish, PublishCall } from '../queue/publisher.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import type { InvokeBody } from './invoke.js'
import type { RunHooks } from './run-messages.js'
import type { RunRegistry } from './run-registry.js'
import type { StepBody } from './step.js'
import type { HeaderLists, VendorRunState, Wait, WorkflowRunState } from './workflow-run.js'
import type { ResolvedWait, Waits } from './workflow-waits.js'

/** The stubs of a test, as the engine uses them. */
export interface StepScript {
  /**
   * Returns the settings of a step that was submitted. If the test skips sleeps, the settings of a sleep have no delay.
   */
  awake(run: WorkflowRunState, step: StepBody, settings: PublishSettings): PublishSettings
  /** Submits the stubbed result of a call to a third party. Returns `undefined` if the call is not stubbed. */
  calls(run: WorkflowRunState, step: StepBody, raw: RawSettings, call: PublishCall): AcceptedPublish | undefined
  /** Submits the stubbed result of an invocation. Returns `undefined` if the invocation is not stubbed. */
  invokes(invoke: InvokeBody): AcceptedPublish | undefined
  /** Called when a step has begun to wait for an event. */
  waits(wait: Wait, cause?: number): void
}

/** The part of the workflow engine that its modules use. `WorkflowEngine` is the only implementation. */
export interface RunEngine extends RunHooks {
  readonly queue: QueueEngine
  readonly register: RunRegistry
  readonly waits: Waits
  readonly script: StepScript
  readonly records: Records<WorkflowRunState>
  now(): number
  get(id: string): WorkflowRunState | undefined
  /**
   * Returns the run of a submission, which must be running.
   * @throws Refusal 400 when there is none
   */
  started(id: string, createdAt?: string): WorkflowRunState
  /**
   * Returns the run of any other request, which must be running.
   * @throws Refusal 404 when there is none
   */
  running(id: string, createdAt?: string): WorkflowRunState
  /**
   * Checks that a submission exceeds no limit of its run. If it does, the run fails.
   * @param step the step, or `undefined` for a submission that is not a step
   * @throws Refusal 429 when a limit is exceeded
   */
  checkRoom(run: WorkflowRunState, step: StepBody | undefined, cause: number | undefined): void
  append(run: WorkflowRunState, url: string, body: Bytes, given: PublishSettings, cause: number | undefined): Message
  hide(run: WorkflowRunState, cause: number | undefined): boolean
  /** Reads settings from stored headers. @throws Refusal when a setting is invalid */
  settingsOf(run: WorkflowRunState, headers: HeaderLists): PublishSettings
  /** Reads the settings of a step. @throws Refusal when a setting is invalid */
  stepSettings(run: WorkflowRunState, raw: RawSettings, words: QueueDialect): PublishSettings
  notify(eventId: string, event: Bytes, runId: string | undefined, cause?: number): readonly ResolvedWait[]
  /** Logs a change of a run's state. @returns `seq` of the entry in the traffic log */
  note(run: WorkflowRunState, state: VendorRunState, cause?: number): number
}
