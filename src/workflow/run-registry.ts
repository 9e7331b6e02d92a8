import type { ServiceClock } from '../kernel/clock.js'
import { Records } from '../kernel/indexed-records.js'
import { IdSource, type Random } from '../kernel/random.js'
import { FifoList } from '../queue/message/fifo-list.js'
import type { QueueEngine } from '../queue/queue-engine.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import type { WorkflowRunState } from './workflow-run.js'

/** Number of random characters in the ID of a run, after `wfr_`. [workflow.md 2.1] */
const runIdLength = 21

/** The runs in memory. An ended run is removed when its log expires. */
export class RunRegistry {
  /**
   * URLs of workflow endpoints whose SDK supports triggers by the REST API. Each has responded at least once.
   * [workflow.md 2.4]
   */
  readonly proven: Set<string> = new Set()
  readonly #clock: ServiceClock
  readonly #retention: number
  /** The latest run with each ID. An ID can be used again when its run has ended. */
  readonly #byId = new Map<string, WorkflowRunState>()
  readonly #records = runRecords()
  /**
   * Ended runs in the order of their ends. Runs that have not ended are not in this list, so they do not delay the
   * removal of others.
   */
  readonly #ended = new FifoList<WorkflowRunState>()
  readonly #ids: IdSource
  #sequence = 0

  constructor({ limits }: QueueEngine, clock: ServiceClock, random: Random) {
    this.#clock = clock
    this.#retention = limits.logRetention
    this.#ids = new IdSource(random.fork('run'), 'wfr_', runIdLength)
  }

  add(run: WorkflowRunState): void {
    this.#prune()
    this.#sequence = run.seq
    this.#byId.set(run.id, run)
    this.#records.add(run)
  }

  /** Records that a run has ended. The run is removed when its log expires. */
  ended(run: WorkflowRunState): void {
    this.#ended.push(run)
  }

  /** Restores the order of ended runs after a load. A dump lists runs in the order of their creation. */
  loaded(): void {
    const over = this.#records.select({ only: ({ isStarted }) => !isStarted }).items
    for (const run of [...over].sort((one, other) => endOf(one) - endOf(other))) this.#ended.push(run)
  }

  /**
   * Returns the creation time of a new run. It is later than the creation of every other run with the same ID: the time
   * tells them apart, but virtual time may not move between them.
   */
  createdAt(id: string): number {
    const before = this.#byId.get(id)
    return before === undefined ? this.#clock.now() : Math.max(this.#clock.now(), before.createdAt + 1)
  }

  get nextSequence(): number {
    return this.#sequence + 1
  }

  nextId(): string {
    let id = this.#ids.next()
    while (this.#byId.has(id)) id = this.#ids.next()
    return id
  }

  get(id: string): WorkflowRunState | undefined {
    this.#prune()
    return this.#byId.get(id)
  }

  /** All runs with their indexes, oldest first. */
  get records(): Records<WorkflowRunState> {
    this.#prune()
    return this.#records
  }

  /**
   * Returns the run of a submission, which must be running.
   * @param createdAt creation time, if the request contains it
   * @throws Refusal 400 when there is none
   */
  started(id: string, createdAt?: string): WorkflowRunState {
    const run = this.#byId.get(id)
    if (run === undefined || !run.isStarted || !run.isOf(createdAt)) throw refusals.runOver(id)
    // The run is about to fail. After a 429, the SDK would have the delivery of another branch retried.
    if (run.exceeded !== undefined && run.running.size > 0) throw refusals.runOver(id)
    if (run.probe !== undefined) {
      run.probe.refused = true
      throw refusals.runOver(id)
    }
    return run
  }

  /**
   * Returns the run of any other request, which must be running.
   * @throws Refusal 404 when there is none
   */
  running(id: string, createdAt?: string): WorkflowRunState {
    const run = this.get(id)
    if (run === undefined || !run.isStarted || !run.isOf(createdAt)) throw refusals.runNotFound(id)
    return run
  }

  #prune(): void {
    const oldest = this.#clock.now() - this.#retention
    for (let first = this.#ended.peek(); first !== undefined && endOf(first) < oldest; first = this.#ended.peek()) {
      this.#ended.shift()
      this.#records.delete(first)
      if (this.#byId.get(first.id) === first) this.#byId.delete(first.id)
    }
  }
}

function endOf({ completedAt, createdAt: time }: WorkflowRunState): number {
  return completedAt ?? time
}

function runRecords(): Records<WorkflowRunState> {
  return new Records<WorkflowRunState>({
    workflowRunId: (run) => run.id,
    label: (run) => run.labels,
    callerIp: (run) => run.callerIp,
    flowControlKey: (run) => run.configuration.settings.flowControl?.key,
    workflowCreatedAt: (run) => String(run.createdAt),
  })
}
