import { type Bytes, toBase64 } from '../kernel/bytes.js'
import { hiddenBody, type TrafficLog } from '../kernel/traffic-log.js'
import type { Message } from '../queue/message/message.js'
import type { RunEngine } from './run-engine.js'
import { checkRoom } from './run-limits.js'
import { writtenStep } from './step.js'
import type { Wait } from './workflow-run.js'
import type { ResolvedWait } from './workflow-waits.js'

/** What an endpoint says of a step that waits for an event. `after`: milliseconds. */
export type WaitInput = Omit<Wait, 'run' | 'record' | 'state' | 'deadline'> & { readonly after: number }

/** Steps that wait, and what they wait for. [workflow.md 7] */
export class Events {
  readonly #engine: RunEngine
  readonly #traffic: TrafficLog

  constructor(engine: RunEngine, traffic: TrafficLog) {
    this.#engine = engine
    this.#traffic = traffic
  }

  /** A step waits. @throws Refusal 400 */
  wait(runId: string, wait: WaitInput, cause: number, createdAt?: string): void {
    const run = this.#engine.started(runId, createdAt)
    const { eventId, step, url, timeout, timeoutUrl, timeoutHeaders, after } = wait
    // What could not be said when its time is over is refused now.
    this.#engine.settingsOf(run, timeoutHeaders)
    checkRoom(run, wait.step, 0, this.#engine.queue.policy)
    const record = run.record(wait.step, this.#engine.now())
    // Its answer was lost: it waits already, or has its event.
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
   * Tells an event to all that wait for it; one that is for a single run is kept for its next wait, if it does not wait.
   * @returns the waits that it ended
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

  /** An event came, or `undefined`: its time is over. */
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
