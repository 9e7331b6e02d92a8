import type { Message } from '../queue/message/message.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import type { RunEngine } from './run-engine.js'
import type { RunEntry } from './run-list.js'
import { CallbackMessage, StepMessage } from './run-messages.js'
import type { RunSettings } from './run-settings.js'
import type { Triggers } from './triggers.js'
import type { WorkflowRunState } from './workflow-run.js'

/** Resumes and restarts failed runs. [workflow.md 11] */
export class RunRestarts {
  readonly #engine: RunEngine
  readonly #settings: RunSettings
  readonly #triggers: Triggers

  constructor(engine: RunEngine, settings: RunSettings, triggers: Triggers) {
    this.#engine = engine
    this.#settings = settings
    this.#triggers = triggers
  }

  /**
   * Creates a run with the payload of a failed run. The new run continues at the step that failed, or starts at the
   * beginning. [workflow.md 11]
   */
  run(
    run: WorkflowRunState,
    overrides: RawSettings,
    words: QueueDialect,
    resume: boolean,
    cause?: number,
  ): WorkflowRunState {
    const { configuration, url, features, failure } = run
    const settings = this.#read(overrides, words, configuration.settings)
    const next = { url, body: run.payload, settings, features, origin: run.originFor(cause), runId: undefined }
    if (!resume || failure === undefined || run.entries.length === 1) return this.#triggers.begin(next).run
    const resumed = this.#triggers.newRun(next)
    this.#engine.note(resumed, 'RUN_STARTED', cause)
    // The endpoint submits unfinished steps again. So the new run does not get their waits, calls and invocations. They
    // stay in the failed run.
    for (const record of run.steps)
      resumed.addRecord(
        record.result === undefined
          ? { ...record, call: undefined, wait: undefined, invoked: undefined }
          : { ...record },
      )
    const open = openEntries(run)
    for (const entry of run.entries) {
      const { message, callType } = entry
      const { stepSettings, overflows } = message.part instanceof StepMessage ? message.part : {}
      if (overflows) continue
      if (!open.has(entry)) {
        resumed.entries.push(entry)
        continue
      }
      const part = new StepMessage(resumed, this.#engine, resumed.entries.length, { stepSettings })
      const again = this.#acceptAgain(message, part, overrides, settings, cause)
      resumed.entries.push({ message: again, callType })
      for (const record of resumed.steps) if (record.message === message) record.message = again
    }
    if (failure.message.part instanceof CallbackMessage) {
      const record = resumed.steps.find(
        ({ stepId }) => stepId === (failure.message.part as CallbackMessage).record?.stepId,
      )
      this.#acceptAgain(failure.message, new CallbackMessage(resumed, this.#engine, record), overrides, settings, cause)
    }
    return resumed
  }

  /** Reads the settings that a request overrides. Deliveries stay in the dialect of the app that began the run. */
  #read(overrides: RawSettings, words: QueueDialect, before: PublishSettings): PublishSettings {
    const settings = this.#settings.read(overrides, words, {}, { ...before, delay: 0, notBefore: undefined })
    return settings.words === before.words ? settings : { ...settings, words: before.words }
  }

  #acceptAgain(
    { kind, url, body, settings, notBefore }: Message,
    part: StepMessage | CallbackMessage,
    overrides: RawSettings,
    given: PublishSettings,
    cause: number | undefined,
  ): Message {
    const due = given.notBefore ?? (notBefore > this.#engine.now() ? notBefore : undefined)
    const merged = { ...settings, ...this.#overridden(overrides, given), delay: given.delay, notBefore: due }
    return this.#engine.queue.courier.accept({
      kind,
      url,
      body,
      settings: merged,
      origin: part.run.originFor(cause),
      part,
    })
  }

  #overridden(overrides: RawSettings, settings: PublishSettings): Partial<PublishSettings> {
    const { retries, retryDelay, flowControl, labels, failureCallback } = settings
    return {
      failureCallback,
      ...(overrides.has('retries') && { retries }),
      ...(overrides.has('retry-delay') && { retryDelay }),
      ...(overrides.has('flow-control-key') && { flowControl }),
      ...(overrides.has('label') && { labels }),
    }
  }
}

/**
 * Returns the entries to deliver again. They are entries that were never delivered successfully, and plans of steps
 * that have no result.
 */
function openEntries({ entries, steps }: WorkflowRunState): ReadonlySet<RunEntry> {
  const unfinished = new Set(steps.filter(({ result }) => result === undefined).map(({ planMessage }) => planMessage))
  return new Set(
    entries.filter(
      ({ message, callType }) =>
        callType !== 'toCallback' && (message.state !== 'DELIVERED' || unfinished.has(message)),
    ),
  )
}
