import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { RespClient } from '../../support/resp.js'
import { briefMs, connections, helper, looks, Programmer, type Row, rowsOf } from './programs.js'

const attempts = 20

/** Connections to one real server, and the replies of each since the last call. */
export class LiveConnections {
  readonly #clients = new Map<string, RespClient>()
  readonly #ids = new Map<string, string>()
  /** Connections that wait for a reply. */
  readonly waiting: Set<string> = new Set()
  #got: Record<string, string> = {}
  /** Whether a step took so long that an expiration may have passed before the program moved time. */
  #wasSlow = false

  static async open(port: number): Promise<LiveConnections> {
    const opened = new LiveConnections()
    for (const name of [...connections, helper, 'sync']) {
      const client = await RespClient.connect(port)
      opened.#clients.set(name, client)
      opened.#ids.set(name, (await client.raw(['CLIENT', 'ID'])).slice(1).trim())
    }
    return opened
  }

  close(): void {
    for (const client of this.#clients.values()) client.close()
  }

  /**
   * Runs a random program, reads the final state, and returns the result of each step. A run that was too slow is
   * repeated.
   */
  async record(seed: string, steps: number): Promise<Row[]> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      this.#wasSlow = false
      const programmer = new Programmer(seed)
      const rows = await this.run(steps, () => programmer.step(this.waiting))
      if (!this.#wasSlow) return rows
    }
    throw new Error(
      `${attempts} times a step of program "${seed}" took longer than ${briefMs} ms: the machine is too busy`,
    )
  }

  /** Runs this many lines. */
  async run(steps: number, lineAt: (step: number) => string): Promise<Row[]> {
    await this.#clear()
    const rows: Row[] = []
    const step = async (text: string): Promise<void> => {
      this.#got = {}
      await this.#step(text)
      rows.push([text, this.#got])
    }
    for (let count = 0; count < steps; count++) await step(lineAt(count))
    for (const look of looks) await step(`${helper} ${look}`)
    return rows
  }

  async #step(text: string): Promise<void> {
    const [name, ...words] = text.split(' ')
    const begunAt = performance.now()
    if (name === 'advance') await wait(Number(words[0]))
    else if (name === 'unblock')
      await this.#client('sync').raw(['CLIENT', 'UNBLOCK', this.#ids.get(words[0]!)!, words[1]!])
    else this.#send(name!, words.join(' '))
    await this.#settled()
    if (name !== 'advance' && performance.now() - begunAt >= briefMs) this.#wasSlow = true
  }

  #send(name: string, line: string): void {
    const client = this.#client(name)
    this.waiting.add(name)
    const rows = rowsOf(line)
    let last = client.raw(line.startsWith('MULTI') ? ['MULTI'] : rows[0]!)
    if (line.startsWith('MULTI')) {
      for (const row of rows) void client.raw(row)
      last = client.raw(['EXEC'])
    }
    void last.then((raw) => {
      this.waiting.delete(name)
      this.#got[name] = raw
    })
  }

  /**
   * Waits until the server has sent everything: it writes at the end of the turn in which it read the first of these.
   */
  async #settled(): Promise<void> {
    for (let count = 0; count < 3; count++) await this.#client('sync').raw(['PING'])
    for (let count = 0; count < 3; count++) await turn()
  }

  async #clear(): Promise<void> {
    for (const name of [...this.waiting]) await this.#client('sync').raw(['CLIENT', 'UNBLOCK', this.#ids.get(name)!])
    await this.#settled()
    await this.#client('sync').raw(['FLUSHALL'])
  }

  #client(name: string): RespClient {
    return this.#clients.get(name)!
  }
}
