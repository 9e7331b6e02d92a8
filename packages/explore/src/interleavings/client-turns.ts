import { type Bytes, latin1, text, utf8 } from '../../../../src/kernel/bytes.js'
import { hostPause, hostTime, hostTurn } from '../../../../src/kernel/host.js'
import { parsedJson } from '../../../../src/kernel/parsed-json.js'
import type { RawRequest, RawResponse } from '../../../../src/protocol/service.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { callWith } from '../crash/run-requests.js'
import type { AsyncCarrier } from '../crash/step-chance.js'

interface Waiting {
  readonly who: string
  /** Position in a pipeline, such as `pipeline 1/2: `, or empty for other requests. */
  readonly part: string
  go(): void
}

/**
 * Time that each client gets to send its next request: at least this many event loop turns, and at least this many
 * milliseconds of host time.
 */
const leastPauses = 20
const patience = 20

/**
 * Holds back the requests of all clients, and admits them one by one. The commands of a pipeline are admitted
 * separately, because other commands can run between them in the service too.
 */
export class ClientTurns {
  readonly #sandbox: Sandbox
  readonly #clients: readonly string[]
  readonly #unfinished: Set<string>
  #waiting: Waiting[] = []
  #isOpen = false

  constructor(sandbox: Sandbox, clients: readonly string[], current: AsyncCarrier<string>) {
    this.#sandbox = sandbox
    this.#clients = clients
    this.#unfinished = new Set(clients)
    const exchange = sandbox.exchange.bind(sandbox)
    sandbox.exchange = async (call) => {
      const who = current.getStore()
      if (who === undefined || this.#isOpen) return exchange(call)
      const body = await call.body()
      const rows = rowsOf(call, body, [sandbox.urls.store, ...Object.values(sandbox.urls.databases)])
      if (rows === undefined) {
        await this.#pass(who, '')
        return exchange(callWith(call, body))
      }
      const answers: RawResponse[] = []
      for (const [at, row] of rows.entries()) {
        await this.#pass(who, `pipeline ${at + 1}/${rows.length}: `)
        const answer = await exchange(callWith(call, utf8(JSON.stringify([row]))))
        if (answer.status !== 200) return answer
        answers.push(answer)
      }
      return joined(answers)
    }
  }

  #pass(who: string, part: string): Promise<void> {
    return new Promise((go) => this.#waiting.push({ who, part, go }))
  }

  get unfinished(): ReadonlySet<string> {
    return this.#unfinished
  }

  finished(who: string): void {
    this.#unfinished.delete(who)
  }

  /**
   * Clients with a waiting request, in the order of the clients. A second waiting request of one client has a name such
   * as `alice#2`.
   */
  get names(): readonly string[] {
    return this.#clients.flatMap((who) =>
      this.#waiting.filter((one) => one.who === who).map((_, at) => (at === 0 ? who : `${who}#${at + 1}`)),
    )
  }

  /**
   * Admits a waiting request.
   * @param name one of `names`
   * @returns the position in its pipeline, such as `pipeline 1/2: `, or empty for other requests
   */
  letThrough(name: string): string {
    const [who, nth = '1'] = name.split('#')
    const waiting = this.#waiting.filter((one) => one.who === who)[Number(nth) - 1]!
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    waiting.go()
    return waiting.part
  }

  open(): void {
    this.#isOpen = true
    for (const { go } of this.#waiting) go()
    this.#waiting = []
  }

  /**
   * Waits until every client has ended, has sent a request, or waits for a timer.
   * @param counts returns whether to wait for this client
   */
  async quiet(counts: (who: string) => boolean = () => true): Promise<void> {
    const from = hostTime()
    for (let pauses = 0; ; pauses++) {
      await hostTurn()
      const asking = new Set(this.#waiting.map(({ who }) => who))
      if ([...this.#unfinished].every((who) => asking.has(who) || !counts(who))) return
      if (pauses >= leastPauses && (this.#waitsForTime || hostTime() - from >= patience)) return
      await hostPause()
    }
  }

  get #waitsForTime(): boolean {
    const { clock } = this.#sandbox
    return clock.running.length === 0 && clock.pending.some(({ background }) => !background)
  }

  /** Moves time until a client sends a request or ends. @returns false if no timer is pending */
  async moveTime(): Promise<boolean> {
    const { clock } = this.#sandbox
    if (!this.#waitsForTime) return false
    const unfinished = this.#unfinished.size
    await clock.drain({ until: () => this.#waiting.length > 0 || this.#unfinished.size < unfinished })
    return true
  }
}

/** Returns the commands of a pipeline that has at least two commands. Returns `undefined` for other requests. */
function rowsOf(call: RawRequest, body: Bytes, stores: readonly string[]): readonly unknown[] | undefined {
  if (!stores.some((store) => call.url.startsWith(`${store}/pipeline`))) return undefined
  if (call.headers.some(([, value]) => value === 'resp2')) return undefined
  const rows = parsedJson(text(body))
  if (!Array.isArray(rows) || rows.length < 2 || !rows.every((row) => Array.isArray(row) && row.length > 0))
    return undefined
  return rows
}

function joined(answers: readonly RawResponse[]): RawResponse {
  const last = answers.at(-1)!
  const inner = answers.map(({ body }) => (typeof body === 'string' ? body.trim().slice(1, -1) : ''))
  return { ...last, body: latin1(`[${inner.join(',')}]`) }
}
