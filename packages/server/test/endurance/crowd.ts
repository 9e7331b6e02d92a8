import { Agent, type IncomingMessage, request } from 'node:http'
import type { FaultRule } from '../../../../src/faults/fault.js'
import { startServer } from '../../src/server.js'

export interface Crowd {
  readonly tenants: number
  readonly connections: number
  readonly milliseconds: number
}

export interface CrowdOutcome {
  readonly answers: number
  /** Number of responses of injected faults, and of connections that they broke. */
  readonly struck: number
  /** Messages about errors. */
  readonly wrong: readonly string[]
}

const rules: readonly FaultRule[] = [
  { name: 'slow', on: 'store.request', every: 5, fault: { kind: 'latency', minMs: 0, maxMs: 4 } },
  { name: 'outage', on: 'store.request', every: 7, fault: { kind: 'status', status: 503 } },
  { name: 'broken', on: 'store.request', every: 11, fault: { kind: 'reset' } },
  { name: 'lost', on: 'store.request', every: 13, phase: 'after', fault: { kind: 'reset' } },
]

/**
 * Runs clients of many tenants in parallel, each with one open connection. Each client sends requests with unique
 * responses and counts. Finally every response must be right or the result of a fault rule.
 */
export async function crowd({ tenants, connections, milliseconds }: Crowd): Promise<CrowdOutcome> {
  await using server = await startServer({ port: 0, clock: 'real', limits: { maxTrafficEntries: 2_000 } })
  const wrong: string[] = []
  const seen = Array.from({ length: tenants }, () => ({ right: 0, outage: 0, broken: 0 }))
  for (let at = 0; at < tenants; at++) server.tenant(`t${at}`).faults.add(rules)
  const until = performance.now() + milliseconds

  async function client(number: number): Promise<void> {
    const tenant = number % tenants
    const { urls, tokens } = server.tenant(`t${tenant}`)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const headers = { authorization: `Bearer ${tokens.store}`, 'content-type': 'application/json' }
    const sum = seen[tenant]!
    for (let turn = 0; performance.now() < until; turn++) {
      const mine = `tenant ${tenant} client ${number} turn ${turn} ${'x'.repeat(turn % 50 === 0 ? 20_000 : turn % 300)}`
      const body = JSON.stringify([
        ['ECHO', mine],
        ['INCR', 'count'],
      ])
      const answer = await ask(`${urls.store}/pipeline`, agent, headers, body)
      if (answer === 'lost') wrong.push(`no answer within 20 s: ${mine.slice(0, 60)}`)
      else if (answer === 'broken') sum.broken++
      else if (answer.status === 503) sum.outage++
      else if (answer.status !== 200) wrong.push(`status ${answer.status}: ${answer.text.slice(0, 200)}`)
      else {
        const [echo] = JSON.parse(answer.text) as { result: string }[]
        if (echo?.result === mine) sum.right++
        else wrong.push(`crossed: ${mine.slice(0, 60)} was answered ${echo?.result?.slice(0, 60)}`)
      }
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: connections }, (_, number) => client(number)))

  for (const [at, { right, outage, broken }] of seen.entries()) {
    const { faults, store } = server.tenant(`t${at}`)
    const struck = Object.fromEntries(faults.rules.map(({ rule, injected: struck }) => [rule.name, struck]))
    const counted = Number(store.get('count') ?? 0)
    if (outage !== struck.outage) wrong.push(`t${at}: ${struck.outage} outages, ${outage} arrived`)
    if (broken !== struck.broken! + struck.lost!)
      wrong.push(`t${at}: ${struck.broken}+${struck.lost} resets, ${broken} arrived`)
    if (counted !== right + struck.lost!)
      wrong.push(`t${at}: ${counted} counted, ${right} told and ${struck.lost} lost`)
  }
  const sum = (pick: (one: (typeof seen)[number]) => number): number => seen.reduce((all, one) => all + pick(one), 0)
  return { answers: sum(({ right }) => right), struck: sum(({ outage, broken }) => outage + broken), wrong }
}

type Got = { readonly status: number; readonly text: string } | 'broken' | 'lost'

function ask(url: string, agent: Agent, headers: Record<string, string>, body: string): Promise<Got> {
  return new Promise((resolve) => {
    const sent = request(url, { agent, method: 'POST', headers, timeout: 20_000 }, (response: IncomingMessage) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, text }))
      response.on('error', () => resolve('broken'))
    })
    sent.on('timeout', () => {
      resolve('lost')
      sent.destroy()
    })
    sent.on('error', () => resolve('broken'))
    sent.end(body)
  })
}
