import { type Bytes, toBase64 } from '../kernel/bytes.js'
import { hiddenBody, type TrafficLog } from '../kernel/traffic-log.js'
import type { Message } from '../queue/message/message.js'
import type { RunEngine } from './run-engine.js'
import { writtenStep } from './step.js'
import type { Wait } from './workflow-run.js'
import type { ResolvedWait } from './workflow-waits.js'

/** The endpoint's request to wait for an event, parsed. `after` is the timeout in milliseconds. */
export type WaitInput = Omit<Wait, 'run' | 'record' | 'state' | 'deadline'> & { readonly after: number }

/** Begins waits for events, and sends the events that end them. [workflow.md 7] */
export class Events {
  readonly #engine: RunEngine
  readonly #traffic: TrafficLog

  constructor(engine: RunEngine, traffic: TrafficLog) {
    this.#engine = engine
    this.#traffic = traffic
  }

  /** Begins a wait. @throws Refusal 400 when it is invalid */
  wait(runId: string, wait: WaitInput, cause: number, createdAt?: string): void {
    const run = this.#engine.started(runId, createdAt)
    const { eventId, step, url, timeout, timeoutUrl, timeoutHeaders, after } = wait
    // A timeout would submit a result with this data. Check the data now, so that an invalid wait is rejected early.
    this.#engine.settingsOf(run, timeoutHeaders)
    this.#engine.checkRoom(run, wait.step, cause)
    const record = run.record(wait.step, this.#engine.now())
    // The response to the first request was lost, so the SDK sent the request again. The step already waits, or has
    // received its event.
    if (this.#engine.queue.policy.workflowDeduplicateSteps && record.wait?.eventId === eventId) return
    const deadline = this.#engine.now() + after
    const made: Wait = {
      run,
      eventId,
      step,
      url,
      timeout,
      deadline,
      timeoutUrl,
      timeoutHeaders,
      record,
      state: 'waiting',
    }
    record.wait = made
    const { stepId } = record
    this.#traffic.append({ type: 'wait', runId, stepId, stepName: step.stepName, eventId, until: deadline }, cause)
    this.#engine.waits.add(made)
    if (made.state === 'waiting') this.#engine.script.waits(made, cause)
  }

  /**
   * Sends an event to all runs that wait for it, or only to one run. If this run does not wait for the event, its next
   * wait receives the event.
   * @returns the waits that the event ended
   */
  notify(eventId: string, event: Bytes, runId: string | undefined, cause?: number): readonly ResolvedWait[] {
    const run = runId === undefined ? undefined : this.#engine.running(runId)
    const waiting = this.#engine.waits.of(eventId, run)
    const kept = run !== undefined && waiting.length === 0
    const runIds = waiting.map((wait) => wait.run.id)
    const reached = run === undefined ? waiting.map((wait) => wait.run) : [run]
    const hides = reached.map((one) => this.#engine.hide(one, cause)).includes(true)
    this.#traffic.append(
      {
        type: 'notify',
        eventId,
        runIds,
        ...(run && { runId: run.id }),
        body: event,
        ...(hides && { redact: hiddenBody }),
        ...(kept && { kept }),
      },
      cause,
    )
    if (kept) this.#engine.waits.remember(run, eventId, event)
    return this.#engine.waits.notify(eventId, event, run)
  }

  /**
   * Submits the result of a wait, which ends the wait.
   * @param event data of the event, or `undefined` after the timeout
   */
  wake(wait: Wait, event: Bytes | undefined): Message {
    const { run, step, eventId, url, timeoutUrl, timeoutHeaders } = wait
    const settings = this.#engine.settingsOf(run, timeoutHeaders)
    const result =
      event === undefined
        ? { ...step, waitEventId: eventId, waitTimeout: true }
        : { ...step, waitEventId: eventId, out: toBase64(event) }
    return this.#engine.append(run, event === undefined ? timeoutUrl : url, writtenStep(result), settings, undefined)
  }
}
