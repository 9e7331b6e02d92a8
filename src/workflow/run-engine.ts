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

/** The stubs of a test, as the engine calls them. */
export interface StepScript {
  /** Returns the settings of a submitted step, without its sleep if the test skips sleeps. */
  awake(run: WorkflowRunState, step: StepBody, settings: PublishSettings): PublishSettings
  /** Returns the stubbed result of a call to a third party, if there is one. */
  calls(run: WorkflowRunState, step: StepBody, raw: RawSettings, call: PublishCall): AcceptedPublish | undefined
  /** Returns the stubbed result of an invocation, if there is one. */
  invokes(invoke: InvokeBody): AcceptedPublish | undefined
  /** Called when a step has begun to wait for an event. */
  waits(wait: Wait, cause?: number): void
}

/** The workflow engine as its parts see it. `WorkflowEngine` is the only implementation. */
export interface RunEngine extends RunHooks {
  readonly queue: QueueEngine
  readonly register: RunRegistry
  readonly waits: Waits
  readonly script: StepScript
  readonly records: Records<WorkflowRunState>
  now(): number
  get(id: string): WorkflowRunState | undefined
  /** @throws Refusal 400 */
  started(id: string, createdAt?: string): WorkflowRunState
  /** @throws Refusal 404 */
  running(id: string, createdAt?: string): WorkflowRunState
  append(run: WorkflowRunState, url: string, body: Bytes, given: PublishSettings, cause: number | undefined): Message
  hide(run: WorkflowRunState, cause: number | undefined): boolean
  /** @throws Refusal */
  settingsOf(run: WorkflowRunState, headers: HeaderLists): PublishSettings
  /** @throws Refusal */
  stepSettings(run: WorkflowRunState, raw: RawSettings, words: QueueDialect): PublishSettings
  notify(eventId: string, event: Bytes, runId: string | undefined, cause?: number): readonly ResolvedWait[]
  /** @returns `seq` of the entry in the traffic log */
  note(run: WorkflowRunState, state: VendorRunState, cause?: number): number
}
