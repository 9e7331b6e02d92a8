import type { Bytes } from '../kernel/bytes.js'
import type { StepSettings, TrafficLog } from '../kernel/traffic-log.js'
import type { Message } from '../queue/message/message.js'
import { Published } from '../queue/message/message-entries.js'
import type { AcceptedPublish, PublishCall } from '../queue/publisher.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import type { RunEngine } from './run-engine.js'
import { CallMessage, isCallbackOf, StepMessage } from './run-messages.js'
import type { RunSettings } from './run-settings.js'
import { readStep, type StepBody, writtenStep } from './step.js'
import { featuresIn, forwardedIn } from './workflow-protocol.js'
import { requestKey, type WorkflowRunState } from './workflow-run.js'

/** Processes what the endpoint of a run submits: steps, and calls to third parties. [workflow.md 5, 6] */
export class Submissions {
  readonly #engine: RunEngine
  readonly #settings: RunSettings
  readonly #traffic: TrafficLog

  constructor(engine: RunEngine, settings: RunSettings, traffic: TrafficLog) {
    this.#engine = engine
    this.#settings = settings
    this.#traffic = traffic
  }

  /**
   * Validates the submission of a step. The returned function then submits the step.
   * @throws Refusal when the submission is invalid
   */
  step(run: WorkflowRunState, call: PublishCall, url: string, raw: RawSettings): () => AcceptedPublish {
    const { body, cause } = call
    const settings = this.#settings.read(raw, call.words, call.headers, this.#settings.base(run.configuration, raw))
    const own = this.#ownSettings(settings, raw)
    // This first check rejects a whole batch if its first item exceeds a limit. Later items are checked again below.
    if (this.#knownStep(run, body) === undefined) this.#engine.checkRoom(run, readStep(body), cause)
    return () => {
      this.#engine.hide(run, cause)
      const known = this.#knownStep(run, body)
      if (known !== undefined) {
        const draft = { kind: 'message' as const, url, body, settings, origin: run.originFor(cause) }
        this.#traffic.adopt(new Published(known, true, draft), cause ?? 0)
        return { message: known, deduplicated: true }
      }
      this.#engine.checkRoom(run, readStep(body), cause)
      return { message: this.append(run, url, body, settings, cause, own), deduplicated: false }
    }
  }

  /**
   * Returns the settings that a message sets for the step which its delivery runs. Returns `undefined` if the message
   * does not have the feature for such settings. [workflow.md 5.1]
   */
  #ownSettings({ retries, retryDelay, flowControl }: PublishSettings, raw: RawSettings): StepSettings | undefined {
    if (!this.#engine.queue.policy.workflowStepConfiguration || !featuresIn(raw).has('WF_StepConfig')) return undefined
    return {
      ...(raw.has('retries') && { retries }),
      ...(raw.has('retry-delay') && retryDelay !== undefined && { retryDelay: retryDelay.text }),
      ...(raw.has('flow-control-key') &&
        flowControl !== undefined && { flowControl: { key: flowControl.key, ...flowControl.limits } }),
    }
  }

  /**
   * Validates a request for settings of the next step. The returned function delivers to the endpoint again, with these
   * settings. [workflow.md 5.1]
   * @throws Refusal when the request is invalid
   */
  configuration(run: WorkflowRunState, call: PublishCall, url: string, raw: RawSettings): () => AcceptedPublish {
    const { body, cause } = call
    const settings = this.#settings.read(raw, call.words, call.headers, this.#settings.base(run.configuration, raw))
    const own = this.#ownSettings(settings, raw) ?? {}
    return () => {
      this.#engine.hide(run, cause)
      const { entries } = run
      const known = run.requestedSettings?.get(requestKey(body, own))
      if (known !== undefined && this.#engine.queue.policy.workflowDeduplicateSteps) {
        const draft = { kind: 'message' as const, url, body, settings, origin: run.originFor(cause) }
        this.#traffic.adopt(new Published(known, true, draft), cause ?? 0)
        return { message: known, deduplicated: true }
      }
      if (entries.at(-1)!.callType === 'stepConfig')
        throw refusals.invalid(call.words.header('Workflow-CallType'), 'the previous step already has a configuration')
      this.#engine.checkRoom(run, undefined, cause)
      const part = new StepMessage(run, this.#engine, entries.length, { stepSettings: own })
      const message = this.#accept(run, { url, body, settings, cause, part })
      entries.push({ message, callType: 'stepConfig' })
      run.requested(message)
      return { message, deduplicated: false }
    }
  }

  /**
   * Delivers a message that fails at once, because the run exceeds a limit: the service itself responds to the delivery. So
   * the run fails with a dead letter and its failure function, even if no delivery to the endpoint is in flight.
   * [workflow.md 12]
   */
  overflow(run: WorkflowRunState, step: StepBody | undefined, exceeded: string, cause: number | undefined): Message {
    const { configuration, entries, url } = run
    run.exceeded = exceeded
    const base = this.#settings.base(configuration, new Map())
    const settings = {
      ...base,
      retries: 0,
      flowControl: undefined,
      failureCallback: configuration.settings.failureCallback,
    }
    const body = writtenStep(step ?? {})
    const part = new StepMessage(run, this.#engine, entries.length, { overflows: true })
    const origin = run.originFor(cause)
    const message = this.#engine.queue.courier.accept({ kind: 'message', url, body, settings, origin, part })
    entries.push({ message, callType: 'step' })
    return message
  }

  #knownStep(run: WorkflowRunState, body: Bytes): Message | undefined {
    return this.#engine.queue.policy.workflowDeduplicateSteps ? run.submittedBefore(body) : undefined
  }

  /**
   * Adds a step to the list of its run. The step is delivered after its delay. The delivery that submitted the step
   * must get its response first.
   */
  append(
    run: WorkflowRunState,
    url: string,
    body: Bytes,
    given: PublishSettings,
    cause: number | undefined,
    own?: StepSettings,
  ): Message {
    const step = readStep(body)
    const settings = step === undefined ? given : this.#engine.script.awake(run, step, given)
    const part = new StepMessage(run, this.#engine, run.entries.length, { stepSettings: own })
    const message = this.#accept(run, { url, body, settings, cause, part, step })
    run.entries.push({ message, callType: 'step' })
    if (step !== undefined) this.#keep(run, step, message)
    return message
  }

  #keep(run: WorkflowRunState, step: StepBody, message: Message): void {
    const record = run.record(step, this.#engine.now())
    record.message = message
    if (step.targetStep === undefined) run.finish(record, step)
    else if (record.plan === undefined) {
      record.plan = step
      record.planMessage = message
    }
    const { stepName, stepType, targetStep } = step
    this.#traffic.append(
      {
        type: 'step',
        runId: run.id,
        messageId: message.id,
        stepId: record.stepId,
        stepName,
        stepType,
        ...(targetStep !== undefined && { planned: true as const }),
        contextBytes: run.contextBytes,
      },
      message.lastEntrySeq,
    )
  }

  #accept(
    run: WorkflowRunState,
    draft: {
      readonly url: string
      readonly body: Bytes
      readonly settings: PublishSettings
      readonly cause: number | undefined
      readonly part: StepMessage | CallMessage
      readonly step?: StepBody | undefined
    },
  ): Message {
    const { url, body, settings, cause, part, step } = draft
    const behind = this.#submitters(run, step)
    const held = behind.size > 0
    const origin = run.originFor(cause)
    const message = this.#engine.queue.courier.accept({ kind: 'message', url, body, settings, origin, part, held })
    if (held) run.hold(message, behind)
    return message
  }

  /**
   * Returns the messages in flight that may have submitted a step. They must get their responses before the step is
   * delivered. A step in a parallel branch can only come from the delivery of that branch.
   */
  #submitters(run: WorkflowRunState, step: StepBody | undefined): Set<Message> {
    const { running } = run
    if (running.size === 0 || step === undefined || step.concurrent <= 1 || step.targetStep !== undefined)
      return new Set(running)
    const record = run.recordOf(step)
    if (record === undefined) return new Set(running)
    return new Set([...running].filter((message) => message === record.message || isCallbackOf(message, record)))
  }

  /**
   * Validates the submission of a call to a third party. The returned function then submits the call.
   * @throws Refusal when the submission is invalid
   */
  call(run: WorkflowRunState, call: PublishCall, url: string, raw: RawSettings): () => AcceptedPublish {
    const { body, cause } = call
    const settings = this.#settings.ofCall(run.configuration, raw, call)
    const step = this.#callStep(raw, call.words)
    if (step === undefined || run.recordOf(step) === undefined) this.#engine.checkRoom(run, step, cause)
    return () => {
      this.#engine.hide(run, cause)
      if (step === undefined || run.recordOf(step) === undefined) this.#engine.checkRoom(run, step, cause)
      const record = step === undefined ? undefined : run.record(step, this.#engine.now())
      const known = this.#engine.queue.policy.workflowDeduplicateSteps ? record?.call?.message : undefined
      const answered = step && this.#engine.script.calls(run, step, raw, call)
      if (answered !== undefined) return answered
      if (known !== undefined && known.url === url && known.body === body) {
        return { message: known, deduplicated: true }
      }
      const message = this.#accept(run, {
        url,
        body,
        settings,
        cause,
        part: new CallMessage(run, this.#engine, record),
        step,
      })
      run.entries.push({ message, callType: 'toCallback' })
      if (record !== undefined) {
        record.call = { message }
        record.message = message
      }
      return { message, deduplicated: false }
    }
  }

  /** Returns the step that makes a call. The headers of the call's callback contain the step. */
  #callStep(raw: RawSettings, words: QueueDialect): StepBody | undefined {
    const told = (name: string): string | undefined => forwardedIn(raw, name, words, 'callback-')
    const stepId = Number(told('Workflow-StepId') ?? Number.NaN)
    if (!Number.isInteger(stepId)) return undefined
    return {
      stepId,
      stepName: told('Workflow-StepName') ?? '',
      stepType: told('Workflow-StepType') ?? 'Call',
      concurrent: Number(told('Workflow-Concurrent') ?? 1),
    }
  }
}
