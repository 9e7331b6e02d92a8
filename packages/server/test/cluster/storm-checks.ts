import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { RespClient } from '../../../../test/support/resp.js'
import { slotOfTag } from '../../src/redis-cluster/hash-slots.js'
import type { Asked, Balancer } from './balancer.js'
import { type Engines, slots } from './engines.js'
import { type Book, commands } from './load.js'
import type { Storm } from './storm.js'

/** Messages about errors; empty if there is none. */
export type Wrong = string[]

/** Repeats a request until it succeeds: after a storm, tenants of a slow machine may still be taken over. */
async function answered(balancer: Balancer, asked: Asked): Promise<{ status: number; body: string }> {
  for (let tries = 0; ; tries++) {
    const told = await balancer.ask(asked)
    if (told.kind === 'answered') return told
    if (tries === 20) throw new Error(`${asked.path} is not answered: ${told.status} ${told.body}`)
    await wait(500)
  }
}

async function result(balancer: Balancer, asked: Asked): Promise<unknown> {
  const { status, body } = await answered(balancer, asked)
  if (status !== 200) throw new Error(`${asked.path} is answered with ${status} ${body}`)
  return JSON.parse(body)
}

async function reply(balancer: Balancer, tenant: string, words: readonly unknown[]): Promise<unknown> {
  return ((await result(balancer, commands(tenant, words))) as { result: unknown }).result
}

/**
 * Checks a list: each acknowledged write exists once and in order, none that was reported as not done exists, and
 * others at most once.
 */
function listWrong(name: string, book: Book, list: readonly string[]): Wrong {
  const wrong: Wrong = []
  const there = new Set(list)
  if (there.size !== list.length) wrong.push(`${name} has an item twice`)
  for (const item of book.nothing)
    if (there.has(item)) wrong.push(`${name} has ${item}, of which it was said that nothing was done`)
  for (const item of list)
    if (!book.acknowledged.includes(item) && !book.unknown.has(item) && !book.nothing.has(item))
      wrong.push(`${name} has ${item}, which nobody wrote`)
  for (const item of book.seen) if (!there.has(item)) wrong.push(`${name} lost ${item}, which had been read`)
  const acknowledged = new Set(book.acknowledged)
  const kept = list.filter((item) => acknowledged.has(item))
  if (kept.join() !== book.acknowledged.join())
    wrong.push(`${name} lost, or has in another order: ${book.acknowledged.filter((item) => !there.has(item))}`)
  return wrong
}

export async function lostWrites({ books, balancer }: Storm): Promise<Wrong> {
  const lists = sideBySide([...books.lists], async ([name, book]) => {
    const [tenant = '', key = ''] = name.split(' ')
    return listWrong(name, book, (await reply(balancer, tenant, ['LRANGE', key, 0, -1])) as string[])
  })
  const transactions = sideBySide([...books.transactions], async ([name, book]) => {
    const [tenant = '', worker = ''] = name.split(' ')
    const list = (await reply(balancer, tenant, ['LRANGE', `txlog:${worker}`, 0, -1])) as string[]
    const count = Number(await reply(balancer, tenant, ['GET', `tx:${worker}`]))
    const half = count === list.length ? [] : [`half a transaction of ${name}: ${count} and ${list.length}`]
    return [...half, ...listWrong(`transactions of ${name}`, book, list)]
  })
  return [...books.stale, ...(await lists), ...(await transactions)]
}

/** Runs a few checks at a time. */
async function sideBySide<T, R>(items: readonly T[], each: (item: T) => Promise<readonly R[]>): Promise<R[]> {
  const all: R[] = []
  let next = 0
  const one = async (): Promise<void> => {
    while (next < items.length) all.push(...(await each(items[next++]!)))
  }
  await Promise.all(Array.from({ length: 8 }, one))
  return all
}

/** Waits until all due messages were delivered, as long as deliveries arrive. */
export async function lostDeliveries({ books, receiver, blows }: Storm): Promise<Wrong> {
  const due = [...books.messages.values()].flatMap(({ acknowledged }) => acknowledged)
  const missing = (): string[] => due.filter((item) => receiver.taken(item) === 0)
  let [count, since] = [receiver.arrivals.length, Date.now()]
  while (missing().length > 0 && Date.now() - since < 20_000) {
    await wait(250)
    if (receiver.arrivals.length === count) continue
    count = receiver.arrivals.length
    since = Date.now()
  }
  const wrong: Wrong = missing().map((item) => `${item} was never delivered`)
  const nothing = new Set([...books.messages.values()].flatMap((book) => [...book.nothing]))
  const times = new Map<string, number>()
  for (const { body, message, retried, schedule } of receiver.arrivals) {
    if (nothing.has(body)) wrong.push(`${body} was delivered, of which it was said that nothing was done`)
    const attempt = `${body} ${message} ${retried} ${schedule ?? ''}`
    times.set(attempt, (times.get(attempt) ?? 0) + 1)
  }
  for (const [attempt, count] of times) if (count > 1 + blows) wrong.push(`${attempt} was made ${count} times`)
  return wrong
}

/** Counts attempts that arrived again because their node ended before it could record their results. */
export function repeated({ receiver }: Storm): number {
  const all = receiver.arrivals.map(({ body, message, retried }) => `${body} ${message} ${retried}`)
  return all.length - new Set(all).size
}

/** Checks that each stream is in order and complete up to its last message. */
export function brokenStreams({ listeners }: Storm): Wrong {
  const wrong: Wrong = []
  for (const { tenant, segments, unknown } of listeners) {
    for (const { heard: all, due } of segments) {
      const heard = all.filter((number) => !unknown.has(number))
      const there = new Set(heard)
      const last = heard.at(-1) ?? -1
      if (heard.some((number, index) => index > 0 && number <= heard[index - 1]!))
        wrong.push(`${tenant} heard ${heard}`)
      for (const number of due) if (number < last && !there.has(number)) wrong.push(`${tenant} did not hear ${number}`)
    }
  }
  return wrong
}

/** Checks the invariants of the queue and the store over the complete log of each tenant. */
export async function brokenPromises({ tenants, balancer }: Storm): Promise<Wrong> {
  const wrong: Wrong = []
  for (const tenant of tenants) {
    const asked = { method: 'POST', path: `/_control/${tenant}/invariants/assert`, body: '{}' }
    const { status, body } = await answered(balancer, asked)
    if (status !== 200) wrong.push(`${tenant}: ${status} ${body.slice(0, 600)}`)
  }
  return wrong
}

/** Checks that fences never decrease in a journal: a former owner must not write after a new one. */
export async function twoOwners({ tenants, engines }: Storm): Promise<{ wrong: Wrong; fences: number }> {
  const wrong: Wrong = []
  let most = 0
  const clients = await clientsOf(engines)
  for (const tenant of tenants) {
    const records = await clients(tenant).send(['LRANGE', `stuntdouble:{${tenant}}:journal`, '0', '-1'])
    const fences =
      'array' in records
        ? records.array.map((record) => Number(/^\d+/.exec('bulk' in record ? record.bulk : '')?.[0]))
        : []
    if (fences.some((fence, index) => !(fence >= (fences[index - 1] ?? 1))))
      wrong.push(`${tenant} was written under ${fences}`)
    most = Math.max(most, ...fences)
  }
  clients.close()
  return { wrong, fences: most }
}

async function clientsOf({ ports }: Engines): Promise<((tag: string) => RespClient) & { close(): void }> {
  const all = await Promise.all(ports.map((port) => RespClient.connect(port)))
  const share = Math.ceil(slots / ports.length)
  const of = (tag: string): RespClient => all[Math.floor(slotOfTag(tag) / share)]!
  return Object.assign(of, {
    close: () => {
      for (const client of all) client.close()
    },
  })
}

interface Trace {
  readonly entries: readonly unknown[]
}

/** Returns the complete log of each tenant. */
export async function traces({ tenants, balancer }: Storm): Promise<Map<string, Trace>> {
  const all = new Map<string, Trace>()
  for (const tenant of tenants) {
    all.set(tenant, (await result(balancer, { path: `/_control/${tenant}/traffic/trace` })) as Trace)
  }
  return all
}

/** Compares traces: all former entries must exist again, although time and schedules have continued. */
export function otherTraces(before: Map<string, Trace>, again: Map<string, Trace>): Wrong {
  const wrong: Wrong = []
  for (const [tenant, { entries }] of before) {
    const now = again.get(tenant)?.entries ?? []
    const at = entries.findIndex((entry, index) => !isDeepStrictEqual(entry, now[index]))
    if (at >= 0)
      wrong.push(
        `${tenant}, entry ${at} of ${entries.length}: ${JSON.stringify(entries[at])} was ${JSON.stringify(now[at])} again`,
      )
  }
  return wrong
}
