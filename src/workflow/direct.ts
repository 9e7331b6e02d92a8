import { behind } from '../kernel/behind.js'
import { type Bytes, fromArray, text, utf8 } from '../kernel/bytes.js'
import { compactJson } from '../kernel/compact-json.js'
import { explainRun } from './explain-run.js'
import type { Run, RunState } from './run.js'
import type { Workflows } from './workflows.js'

const { put, of } = behind<DirectWorkflows, Workflows>('workflows')

/** The engine behind the face, for the rest of the house. */
export const workflowsOf: (workflow: DirectWorkflows) => Workflows = of

/** The runs of workflows, spoken to directly by a test: no HTTP and no token. */
export class DirectWorkflows {
  constructor(engine: Workflows) {
    put(this, engine)
  }

  /** Every run that is remembered, oldest first; those that ended are forgotten with the log. */
  get runs(): readonly WorkflowRun[] {
    return of(this)
      .records.select({})
      .items.map((run) => new WorkflowRun(run, of(this)))
  }

  /**
   * A run by its id.
   * @throws TypeError when there is none, with the runs that there are
   */
  run(id: string): WorkflowRun {
    const run = of(this).get(id)
    if (run !== undefined) return new WorkflowRun(run, of(this))
    const known = this.runs.map((one) => `${one.id} of ${one.url}`)
    throw new TypeError(
      `There is no run ${JSON.stringify(id)}. ${known.length === 0 ? 'No run has begun: trigger one first.' : `Runs: ${known.slice(0, 5).join(', ')}.`}`,
    )
  }

  /**
   * Tells an event to the runs that wait for it, as `client.notify()` does.
   * @param runId tells it to this run only, and keeps it for the run's next wait if it does not wait yet
   * @returns how many waits it ended
   */
  notify(eventId: string, data?: unknown, runId?: string): number {
    return of(this).notify(eventId, bytesOf(data), runId).length
  }
}

/** One run, as it stands whenever it is asked. */
export class WorkflowRun {
  readonly #run: Run
  readonly #engine: Workflows

  constructor(run: Run, engine: Workflows) {
    this.#run = run
    this.#engine = engine
  }

  get id(): string {
    return this.#run.id
  }

  get url(): string {
    return this.#run.url
  }

  get state(): RunState {
    return this.#run.state
  }

  /** Virtual milliseconds. */
  get createdAt(): number {
    return this.#run.time
  }

  /** Virtual milliseconds; `undefined` while it lasts. */
  get completedAt(): number | undefined {
    return this.#run.completedAt
  }

  /** What it returned, out of its JSON; `undefined` while it lasts, and when it returned nothing. */
  get result(): unknown {
    const { result } = this.#run
    if (result === undefined || result === '') return undefined
    try {
      return JSON.parse(text(result))
    } catch {
      return text(result)
    }
  }

  /** Why it is where it is, in sentences: what each of its open steps waits for. */
  explain(): string {
    return explainRun(this.#run, this.#engine)
  }

  /** @throws Error when it has ended */
  cancel(): void {
    this.#engine.cancel(this.#run.id)
  }
}

function bytesOf(data: unknown): Bytes {
  if (data === undefined) return '' as Bytes
  if (data instanceof Uint8Array) return fromArray(data)
  return utf8(typeof data === 'string' ? data : compactJson(data))
}
