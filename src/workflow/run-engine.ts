import type { Bytes } from '../kernel/bytes.js'
import type { Records } from '../kernel/records.js'
import type { Message } from '../queue/message/message.js'
import type { PublishCall, PublishResult } from '../queue/publisher.js'
import type { Queue } from '../queue/queue.js'
import type { PublishSettings, RawSettings } from '../queue/settings/settings.js'
import type { Words } from '../queue/settings/words.js'
import type { InvokeBody } from './invoke.js'
import type { RunKeeper } from './parts.js'
import type { HeaderLists, Run, RunState, Wait } from './run.js'
import type { RunRegister } from './run-register.js'
import type { StepBody } from './step.js'
import type { Told, Waits } from './waits.js'

/** What a test has set up for steps and events, where the engine reaches them. */
export interface StepScript {
  /** A step that is submitted: without its sleep, if the test skips sleeps. */
  awake(run: Run, step: StepBody, settings: PublishSettings): PublishSettings
  /** A call of a third party that has a result from the test. */
  calls(run: Run, step: StepBody, raw: RawSettings, call: PublishCall): PublishResult | undefined
  /** An invocation that has one. */
  invokes(invoke: InvokeBody): PublishResult | undefined
  /** A step has begun to wait for an event. */
  waits(wait: Wait, cause?: number): void
}

/** The workflow engine as its parts see it. `Workflows` is the one that there is. */
export interface RunEngine extends RunKeeper {
  readonly queue: Queue
  readonly register: RunRegister
  readonly waits: Waits
  readonly script: StepScript
  readonly records: Records<Run>
  now(): number
  get(id: string): Run | undefined
  /** @throws Refusal 400 */
  started(id: string, createdAt?: string): Run
  /** @throws Refusal 404 */
  running(id: string, createdAt?: string): Run
  append(run: Run, url: string, body: Bytes, given: PublishSettings, cause: number | undefined): Message
  hide(run: Run, cause: number | undefined): boolean
  /** @throws Refusal */
  settingsOf(run: Run, headers: HeaderLists): PublishSettings
  /** @throws Refusal */
  stepSettings(run: Run, raw: RawSettings, words: Words): PublishSettings
  notify(eventId: string, event: Bytes, runId: string | undefined, cause?: number): readonly Told[]
  /** @returns `seq` of the entry of the log */
  note(run: Run, state: RunState, cause?: number): number
}
