import type { Bytes } from '../kernel/bytes.js'
import type { TrafficLog } from '../kernel/traffic-log.js'
import type { Message } from '../queue/message/message.js'
import { Published } from '../queue/message/message-entries.js'
import type { AcceptedPublish, PublishCall } from '../queue/publisher.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import type { RunEngine } from './run-engine.js'
import { checkRoom } from './run-limits.js'
import { CallMessage, isCallbackOf, StepMessage } from './run-messages.js'
import type { RunSettings } from './run-settings.js'
import { readStep, type StepBody } from './step.js'
import { forwardedIn } from './workflow-protocol.js'
import type { WorkflowRunState } from './workflow-run.js'

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
    const { policy } = this.#engine.queue
    // This first check rejects a whole batch if its first item exceeds a limit. Later items are checked again below.
    if (this.#knownStep(run, body) === undefined) checkRoom(run, readStep(body), body.length, policy)
    return () => {
      this.#engine.hide(run, cause)
      const known = this.#knownStep(run, body)
      if (known !== undefined) {
        const draft = { kind: 'message' as const, url, body, settings, origin: run.originFor(cause) }
        this.#traffic.adopt(new Published(known, true, draft), cause ?? 0)
        return { message: known, deduplicated: true }
      }
      checkRoom(run, readStep(body), body.length, policy)
      return { message: this.append(run, url, body, settings, cause), deduplicated: false }
    }
  }

  /**
   * Validates settings for the next step. The returned function stores them, and the endpoint is then called again with
   * these settings. [workflow.md 12]
   */
  configuration(run: WorkflowRunState, call: PublishCall, url: string, raw: RawSettings): () => AcceptedPublish {
    const { body, cause } = call
    const settings = this.#settings.read(raw, call.words, call.headers, this.#settings.base(run.configuration, raw))
    return () => {
      this.#engine.hide(run, cause)
      const { entries } = run
      const known = entries.find(({ message, callType }) => callType === 'stepConfig' && message.body === body)
      if (known !== undefined && this.#engine.queue.policy.workflowDeduplicateSteps)
        return { message: known.message, deduplicated: true }
      if (entries.at(-1)!.callType === 'stepConfig')
        throw refusals.invalid(call.words.header('Workflow-CallType'), 'the previous step already has a configuration')
      checkRoom(run, undefined, body.length, this.#engine.queue.policy)
      const part = new StepMessage(run, this.#engine, entries.length)
      const message = this.#accept(run, { url, body, settings, cause, part })
      entries.push({ message, callType: 'stepConfig' })
      return { message, deduplicated: false }
    }
  }

  #knownStep(run: WorkflowRunState, body: Bytes): Message | undefined {
    return this.#engine.queue.policy.workflowDeduplicateSteps ? run.submittedBefore(body) : undefined
  }

  /**
   * Adds a step to the list of its run. The step is delivered after its delay. The delivery that submitted the step
   * must get its response first.
   */
  append(run: WorkflowRunState, url: string, body: Bytes, given: PublishSettings, cause: number | undefined): Message {
    const step = readStep(body)
    const settings = step === undefined ? given : this.#engine.script.awake(run, step, given)
    const part = new StepMessage(run, this.#engine, run.entries.length)
    const message = this.#accept(run, { url, body, settings, cause, part, step })
    run.entries.push({ message, callType: 'step' })
    if (step !== undefined) this.#keep(run, step, message)
    return message
  }

  #keep(run: WorkflowRunState, step: StepBody, message: Message): void {
    const record = run.record(step, this.#engine.now())
    record.message = message
    if (step.targetStep === undefined) record.result ??= step
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
    const { policy } = this.#engine.queue
    if (step === undefined || run.recordOf(step) === undefined) checkRoom(run, step, body.length, policy)
    return () => {
      this.#engine.hide(run, cause)
      if (step === undefined || run.recordOf(step) === undefined) checkRoom(run, step, body.length, policy)
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
