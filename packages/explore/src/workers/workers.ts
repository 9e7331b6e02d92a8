import { Tinypool } from 'tinypool'
import type { CampaignOptions, IndexResult } from '../campaign/index-space.js'
import { newSlot, slotOf, type WorkerJob } from './job.js'
import type { JobResult } from './worker.js'

/** Thrown if a job has no result. The message is the reason, or the stack trace of the job's error. */
export class JobFailed extends Error {}

/** Performs the jobs of a campaign. */
export interface WorkerPool {
  /** @param slot shared memory for the progress of the job @throws JobFailed if the job has no result */
  perform(task: WorkerJob['task'], slot?: Int32Array): Promise<IndexResult>
}

interface Running {
  readonly slot: Int32Array
  lose(why: string): void
}

/** Threads that perform the jobs of one campaign. */
export class Workers implements WorkerPool {
  readonly #pool: Tinypool
  readonly #file: string
  readonly #given: CampaignOptions
  readonly #running = new Set<Running>()
  readonly #watched = new WeakSet<object>()

  constructor(file: string, given: CampaignOptions, jobs: number) {
    this.#file = file
    this.#given = given
    this.#pool = new Tinypool({
      filename: new URL('./campaign-worker.js', import.meta.url).href,
      name: 'perform',
      runtime: 'worker_threads',
      minThreads: 1,
      maxThreads: jobs,
      // With atomics, the thread would be blocked between two jobs, and code under test that still runs could not
      // continue.
      useAtomics: false,
    })
    // A worker can end while it has no job. The pool replaces it for the next job, so ignore the error.
    this.#pool.on('error', () => {})
  }

  perform(task: WorkerJob['task'], slot: Int32Array = newSlot()): Promise<IndexResult> {
    return new Promise((resolve, reject) => {
      const gone = new AbortController()
      const job: Running = {
        slot,
        lose: (why) => {
          reject(new JobFailed(why))
          gone.abort()
        },
      }
      this.#running.add(job)
      void this.#pool
        .run({ file: this.#file, given: this.#given, task, slot } satisfies WorkerJob, { signal: gone.signal })
        .then((done: JobResult) => ('answer' in done ? resolve(done.answer) : reject(new JobFailed(done.broken))))
        .catch((error: Error) => reject(new JobFailed(`The worker thread ended: ${error.message}`)))
        .finally(() => {
          this.#running.delete(job)
          this.#watch()
        })
      this.#watch()
    })
  }

  /** Rejects the running jobs of a thread that ends. The pool does not notice that a thread ended. */
  #watch(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue
      this.#watched.add(thread)
      const { threadId } = thread
      thread.on('exit', (code: number) => {
        for (const { slot, lose } of this.#running)
          if (Atomics.load(slot, slotOf.thread) === threadId) lose(`The worker thread ended with code ${code}.`)
      })
    }
  }

  /** Ends all threads, even if they are blocked. */
  async end(): Promise<void> {
    for (const { lose } of this.#running) lose('It was stopped.')
    await this.#pool.destroy().catch(() => undefined)
  }
}
