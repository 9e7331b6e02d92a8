import { Agent, type IncomingMessage, request } from 'node:http'
import type { NodeProcess } from './nodes.js'

export interface Asked {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** `nothing`: it has certainly not happened. `unknown`: it may have happened. */
export type Told =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | {
      readonly kind: 'nothing' | 'unknown'
      readonly status: number
      readonly body: string
      readonly retryAfter?: string
    }

/** A simple load balancer with round robin. A node that rejects connections is skipped for this request. */
export class Balancer {
  readonly #agent = new Agent({ keepAlive: true, timeout: 10_000 })
  readonly #nodes: () => readonly NodeProcess[]
  readonly #patience: number
  #turn = 0

  /** @param patience timeout of its clients, in milliseconds */
  constructor(nodes: () => readonly NodeProcess[], patience = 4_000) {
    this.#nodes = nodes
    this.#patience = patience
  }

  async ask(asked: Asked): Promise<Told> {
    const nodes = this.#nodes()
    let told: Told = { kind: 'nothing', status: 0, body: 'there is no node' }
    for (let tries = 0; tries < nodes.length; tries++) {
      told = await this.#askOne(nodes[this.#turn++ % nodes.length]!, asked)
      if (told.kind !== 'nothing' || told.status !== 0) return told
    }
    return told
  }

  /** Opens an event stream. Returns its head; its parts follow as they arrive. */
  open({ path, headers = {} }: Asked): Promise<IncomingMessage | undefined> {
    const nodes = this.#nodes()
    const node = nodes[this.#turn++ % nodes.length]
    return new Promise((resolve) => {
      if (node === undefined) return resolve(undefined)
      const sent = request(node.origin + path, { headers })
      const late = setTimeout(() => sent.destroy(), this.#patience)
      sent.on('response', (response) => {
        clearTimeout(late)
        response.on('error', () => undefined)
        resolve(response)
      })
      sent.on('error', () => {
        clearTimeout(late)
        resolve(undefined)
      })
      sent.end()
    })
  }

  #askOne(node: NodeProcess, { method = 'GET', path, headers = {}, body }: Asked): Promise<Told> {
    return new Promise((resolve) => {
      let isConnected = false
      const sent = request(node.origin + path, { method, headers, agent: this.#agent })
      const failed = (error: Error): void =>
        resolve({ kind: isConnected ? 'unknown' : 'nothing', status: 0, body: error.message })
      const late = setTimeout(() => sent.destroy(new Error('late')), this.#patience)
      sent.on('socket', (socket) => {
        isConnected = !socket.connecting
        if (isConnected) return
        socket.once('connect', () => {
          isConnected = true
        })
      })
      sent.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('error', failed)
        response.on('close', () => {
          clearTimeout(late)
          if (!response.complete) return failed(new Error('half an answer'))
          const status = response.statusCode ?? 0
          if (status !== 503) resolve({ kind: 'answered', status, body: text })
          else {
            const { 'retry-after': retryAfter = '' } = response.headers
            resolve({ kind: /Nothing was done/.test(text) ? 'nothing' : 'unknown', status, body: text, retryAfter })
          }
        })
      })
      sent.on('error', (error) => {
        clearTimeout(late)
        failed(error)
      })
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
