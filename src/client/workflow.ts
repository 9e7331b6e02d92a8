import { fromArray, toBase64 } from '../kernel/bytes.js'
import type { DirectWorkflows, WorkflowRun } from '../workflow/direct.js'
import type { Twin } from './twin.js'
import type { RunView } from './views.js'
import type { ControlWire } from './wire.js'

/** `sandbox.workflow` of a tenant on a server. */
export class RemoteWorkflows implements Twin<DirectWorkflows, 'notify'> {
  readonly #wire: ControlWire

  constructor(wire: ControlWire) {
    this.#wire = wire
  }

  /** Every run that is remembered, oldest first, as each stands now. */
  get runs(): Promise<readonly RunView[]> {
    return this.#wire.list('/workflow/runs') as Promise<RunView[]>
  }

  /** A run by its id. Where there is none, what is asked of it rejects, with the runs that there are. */
  run(id: string): RemoteRun {
    return new RemoteRun(this.#wire, id)
  }

  /** Tells an event to the runs that wait for it, or to one. @returns how many waits it ended */
  async notify(eventId: string, data?: unknown, runId?: string): Promise<number> {
    const given = data instanceof Uint8Array ? { bytes: { base64: toBase64(fromArray(data)) } } : { data }
    const answer = await this.#wire.post('/workflow/notify', {
      eventId,
      ...given,
      ...(runId !== undefined && { runId }),
    })
    return (answer as { ended: number }).ended
  }
}

/** One run on a server, as it stands whenever it is asked. */
export class RemoteRun
  implements Twin<WorkflowRun, 'url' | 'state' | 'createdAt' | 'completedAt' | 'result' | 'cancel'>
{
  readonly id: string
  readonly #wire: ControlWire

  constructor(wire: ControlWire, id: string) {
    this.#wire = wire
    this.id = id
  }

  get url(): Promise<string> {
    return this.#asked('url')
  }

  get state(): Promise<RunView['state']> {
    return this.#asked('state')
  }

  get createdAt(): Promise<number> {
    return this.#asked('createdAt')
  }

  get completedAt(): Promise<number | undefined> {
    return this.#asked('completedAt')
  }

  get result(): Promise<unknown> {
    return this.#asked('result')
  }

  /** Rejects when it has ended. */
  async cancel(): Promise<void> {
    await this.#wire.post(`${this.#path}/cancel`)
  }

  get #path(): string {
    return `/workflow/runs/${encodeURIComponent(this.id)}`
  }

  async #asked<Name extends keyof RunView>(name: Name): Promise<RunView[Name]> {
    return ((await this.#wire.get(this.#path)) as RunView)[name]
  }
}
