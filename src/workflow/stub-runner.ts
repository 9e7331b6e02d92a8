import type { ServiceClock } from '../kernel/clock.js'
import { headerOf } from '../kernel/http.js'
import type { Message, RawOutcome, StubbableDelivery } from '../queue/message/message.js'
import type { AcceptedPublish, PublishCall } from '../queue/publisher.js'
import type { PublishSettings, RawSettings } from '../queue/settings/message-settings.js'
import type { QueueDialect } from '../queue/settings/queue-dialect.js'
import type { InvokeBody } from './invoke.js'
import type { RunEngine, StepScript } from './run-engine.js'
import { readStep, type StepBody, writtenStep } from './step.js'
import { placeOf, type StubContext, stubDelivery } from './stub-delivery.js'
import { callResult, eventBytes, invokeOut, type StepStub, type StubbedStep, Stubs, webhookData } from './stubs.js'
import { forwardedIn, forwardNames } from './workflow-protocol.js'
import type { StepRecord, Wait, WorkflowRunState } from './workflow-run.js'

/** Applies the stubs of a test to the runs of an engine. */
export class StubRunner implements StepScript {
  readonly verbs: Stubs = new Stubs()
  readonly #engine: RunEngine
  readonly #clock: ServiceClock
  readonly #stage: StubContext

  constructor(engine: RunEngine, clock: ServiceClock) {
    this.#engine = engine
    this.#clock = clock
    this.#stage = {
      verbs: this.verbs,
      submit: (run, delivery, step) => this.#submit(run, delivery, step),
    }
  }

  get unused(): readonly string[] {
    for (const { steps } of this.#engine.records.select({}).items)
      for (const one of steps) this.verbs.hear(one.stepName)
    return this.verbs.unused
  }

  stage(run: WorkflowRunState, index: number, delivery: StubbableDelivery): Promise<RawOutcome> | undefined {
    return stubDelivery(this.#stage, run, index, delivery)
  }

  /** Submits the result of a stubbed step, as if the endpoint had submitted it. */
  #submit(run: WorkflowRunState, { message, seq }: StubbableDelivery, step: StepBody): void {
    const engine = this.#engine
    const settings = engine.stepSettings(run, stepSettings(message), message.settings.words)
    engine.append(run, run.url, writtenStep(step), settings, seq)
  }

  #verbAt(run: WorkflowRunState, { stepName, stepId }: StepRecord, does: StubbedStep['does']): StepStub | undefined {
    if (!this.verbs.awaitsSteps) return undefined
    const verb = this.verbs.forStep(stepName, placeOf(run, stepName, stepId))
    if (verb?.fate.does !== does) return undefined
    verb.used++
    return verb
  }

  calls(
    run: WorkflowRunState,
    step: StepBody,
    raw: RawSettings,
    { words, cause }: PublishCall,
  ): AcceptedPublish | undefined {
    const engine = this.#engine
    const verb = this.#verbAt(run, run.record(step, engine.now()), 'returns')
    if (verb === undefined) return undefined
    const forwarded = {
      'Workflow-Sdk-Version': '1',
      'Workflow-Invoke-Count': forwardedIn(raw, 'Workflow-Invoke-Count', words, 'callback-'),
    }
    const settings = engine.stepSettings(run, forwarding(forwarded, words), words)
    const result = writtenStep({ ...step, out: callResult(given(verb)) })
    return { message: engine.append(run, run.url, result, settings, cause), deduplicated: false }
  }

  invokes({ workflowRunId, workflowUrl, headers, step }: InvokeBody): AcceptedPublish | undefined {
    const engine = this.#engine
    const parent = engine.started(workflowRunId)
    const verb = this.#verbAt(parent, parent.record(step, engine.now()), 'returns')
    if (verb === undefined) return undefined
    const result = writtenStep({ ...step, out: invokeOut(given(verb)) })
    const settings = engine.settingsOf(parent, headers)
    return { message: engine.append(parent, workflowUrl, result, settings, undefined), deduplicated: false }
  }

  waits(wait: Wait, cause?: number): void {
    const { waits } = this.#engine
    const { run, record, eventId, step } = wait
    const returns = this.#verbAt(run, record, 'returns')
    if (returns !== undefined) {
      const value = given(returns)
      waits.finish(wait, step.stepType === 'WaitForWebhook' ? webhookData(value) : eventBytes(value))
      return
    }
    if (this.#verbAt(run, record, 'timesOut') !== undefined) waits.finish(wait, undefined)
    else this.meetEvent(eventId, cause)
  }

  /**
   * Schedules a stubbed event, if a run already waits for it. The event is sent when the code that creates the stub has
   * finished.
   */
  soon(eventId: string): void {
    if (!this.#engine.waits.isAwaited(eventId)) return
    this.#clock.schedule(this.#engine.now(), `event ${JSON.stringify(eventId)}`, () => this.meetEvent(eventId))
  }

  /** Sends a stubbed event if a run waits for it now. */
  meetEvent(eventId: string, cause?: number): void {
    const engine = this.#engine
    if (!engine.waits.isAwaited(eventId)) return
    const verb = this.verbs.forEvent(eventId)
    if (verb === undefined) return
    verb.used++
    if (verb.fate.does === 'arrives') engine.notify(eventId, verb.fate.data, undefined, cause)
    else for (const wait of engine.waits.of(eventId)) engine.waits.finish(wait, undefined)
  }

  awake(run: WorkflowRunState, step: StepBody, settings: PublishSettings): PublishSettings {
    if (!isSleep(step) || (settings.delay === 0 && settings.notBefore === undefined)) return settings
    const skips = this.verbs.skips('sleeps')
    if (skips) this.verbs.skipped('sleeps')
    else if (this.#verbAt(run, run.record(step, this.#engine.now()), 'returns') === undefined) return settings
    return { ...settings, delay: 0, notBefore: undefined }
  }

  skipSleeps(): void {
    this.verbs.skip('sleeps')
    this.#releaseAll('sleeps', (run, message) => {
      const step = readStep(message.body)
      return message !== run.entries[0]?.message && step !== undefined && isSleep(step) && message.retried === 0
    })
  }

  skipRetryDelays(): void {
    this.verbs.skip('retryDelays')
    this.#releaseAll('retryDelays', (_, message) => message.state === 'RETRY')
  }

  #releaseAll(what: 'sleeps' | 'retryDelays', isMeant: (run: WorkflowRunState, message: Message) => boolean): void {
    for (const run of this.#engine.records.select({}).items) {
      const messages = run.entries.map(({ message }) => message)
      if (run.failureFunction !== undefined) messages.push(run.failureFunction)
      for (const message of messages) {
        if (message.delivery.is !== 'planned' || message.nextAttemptAt <= this.#engine.now() || !isMeant(run, message))
          continue
        this.verbs.skipped(what)
        this.#engine.queue.courier.release(message)
      }
    }
  }

  retries(message: Message): void {
    if (message.state !== 'RETRY' || !this.verbs.skips('retryDelays')) return
    this.verbs.skipped('retryDelays')
    // The retry is planned only after the current attempt has ended. So release it with a timer, which fires after
    // that.
    this.#clock.schedule(this.#engine.now(), 'a retry whose delay is skipped', () => {
      this.#engine.queue.courier.release(message)
    })
  }
}

function given({ fate }: StepStub): unknown {
  return fate.does === 'returns' ? fate.value : undefined
}

function isSleep({ stepType }: StepBody): boolean {
  return stepType === 'SleepFor' || stepType === 'SleepUntil'
}

/** Returns the settings that the SDK sends with every step. [workflow.md 5] */
function stepSettings({ headers, settings: { words } }: Message): Map<string, string> {
  const got = (name: string): string | undefined =>
    words
      .headers(name)
      .map((one) => headerOf(headers, one.toLowerCase()))
      .find((value) => value !== undefined)
  const names = ['Workflow-Sdk-Version', 'Workflow-Invoke-Count']
  const forwarded = forwarding(Object.fromEntries(names.map((name) => [name, got(name)])), words)
  return new Map([['method', 'POST'], ...forwarded])
}

/** Returns settings that forward service headers. Each name occurs in every spelling of the dialect. */
function forwarding(headers: Readonly<Record<string, string | undefined>>, words: QueueDialect): Map<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : forwardNames(name, words).map((setting) => [setting, value] as const),
    ),
  )
}
