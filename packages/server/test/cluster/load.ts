import { setTimeout as wait } from 'node:timers/promises'
import { createRandom, type Random } from '../../../../src/kernel/random.js'
import type { Asked, Balancer, Told } from './balancer.js'

export const storeToken = 'a-store-token'
export const queueToken = 'a-queue-token'

/** What a worker knows about one list that only it writes to. */
export class Book {
  /** Acknowledged items in order. */
  readonly acknowledged: string[] = []
  readonly unknown = new Set<string>()
  /** Items of requests whose response was "nothing was done". */
  readonly nothing = new Set<string>()
  /** Items of the last read, which must not disappear. */
  seen: readonly string[] = []

  note(item: string, told: Told): void {
    if (told.kind === 'answered' && told.status < 300) this.acknowledged.push(item)
    else this[told.kind === 'nothing' ? 'nothing' : 'unknown'].add(item)
  }
}

/** What all workers of a storm know: lists by `tenant key`, messages by `tenant`. */
export interface Books {
  readonly lists: Map<string, Book>
  readonly transactions: Map<string, Book>
  readonly messages: Map<string, Book>
  /** Responses that are neither successful nor a 503. */
  readonly mistakes: string[]
  /** Reads that lacked an item that had been acknowledged before. */
  readonly stale: string[]
  answers: number
  refusals: number
}

export function emptyBooks(): Books {
  const [lists, transactions, messages] = [new Map(), new Map(), new Map()]
  return { lists, transactions, messages, mistakes: [], stale: [], answers: 0, refusals: 0 }
}

const store = { authorization: `Bearer ${storeToken}` }
const queue = { authorization: `Bearer ${queueToken}` }

export const commands = (tenant: string, words: readonly unknown[], path = ''): Asked => ({
  method: 'POST',
  path: `/${tenant}/store${path}`,
  headers: store,
  body: JSON.stringify(words),
})

const publishing = (tenant: string, to: string, body: string, headers: Record<string, string> = {}): Asked => ({
  method: 'POST',
  path: `/${tenant}/queue/v2/publish/${to}`,
  headers: { ...queue, 'upstash-retries': '3', 'upstash-retry-delay': '500', ...headers },
  body,
})

export const scheduling = (tenant: string, to: string): Asked => ({
  method: 'POST',
  path: `/${tenant}/queue/v2/schedules/${to}`,
  headers: { ...queue, 'upstash-cron': '* * * * *', 'upstash-schedule-id': `every-minute-${tenant}` },
  body: `minute of ${tenant}`,
})

/** A client that sends one request after another to any tenant, and records the responses. */
export class Worker {
  readonly #name: string
  readonly #random: Random
  readonly #balancer: Balancer
  readonly #books: Books
  readonly #receiver: string
  #count = 0

  constructor(name: string, balancer: Balancer, books: Books, receiver: string) {
    this.#name = name
    this.#random = createRandom(`storm ${name}`)
    this.#balancer = balancer
    this.#books = books
    this.#receiver = receiver
  }

  async work(tenants: readonly string[], isOver: () => boolean, pause: number): Promise<void> {
    while (!isOver()) {
      const tenant = tenants[this.#random.int(tenants.length)]!
      const dice = this.#random.int(10)
      if (dice < 4) await this.#push(tenant)
      else if (dice < 6) await this.#read(tenant)
      else if (dice < 7) await this.#transact(tenant)
      else await this.#publish(tenant, dice === 9 ? { 'upstash-delay': '2s' } : {})
      await wait(pause)
    }
  }

  async #ask(asked: Asked): Promise<Told> {
    const told = await this.#balancer.ask(asked)
    if (told.kind !== 'answered') this.#books.refusals++
    else if (told.status >= 300) this.#books.mistakes.push(`${asked.method} ${asked.path}: ${told.status} ${told.body}`)
    else this.#books.answers++
    return told
  }

  async #push(tenant: string): Promise<void> {
    const [key, item] = [`log:${this.#name}`, `${this.#name}-${this.#count++}`]
    bookOf(this.#books.lists, `${tenant} ${key}`).note(item, await this.#ask(commands(tenant, ['RPUSH', key, item])))
  }

  async #read(tenant: string): Promise<void> {
    const key = `log:${this.#name}`
    const book = bookOf(this.#books.lists, `${tenant} ${key}`)
    const told = await this.#ask(commands(tenant, ['LRANGE', key, 0, -1]))
    if (told.kind !== 'answered' || told.status !== 200) return
    const seen = (JSON.parse(told.body) as { result: string[] }).result
    const there = new Set(seen)
    const missing = [...book.acknowledged, ...book.seen].find((item) => !there.has(item))
    if (missing !== undefined) this.#books.stale.push(`${tenant} ${key} lacked ${missing}`)
    book.seen = seen
  }

  async #transact(tenant: string): Promise<void> {
    const item = `${this.#name}-${this.#count++}`
    const rows = [
      ['INCR', `tx:${this.#name}`],
      ['RPUSH', `txlog:${this.#name}`, item],
    ]
    const told = await this.#ask(commands(tenant, rows, '/multi-exec'))
    bookOf(this.#books.transactions, `${tenant} ${this.#name}`).note(item, told)
  }

  async #publish(tenant: string, headers: Record<string, string>): Promise<void> {
    const item = `${tenant} ${this.#name}-${this.#count++}`
    const told = await this.#ask(publishing(tenant, this.#receiver, item, headers))
    bookOf(this.#books.messages, tenant).note(item, told)
  }
}

function bookOf(books: Map<string, Book>, key: string): Book {
  let book = books.get(key)
  if (book === undefined) {
    book = new Book()
    books.set(key, book)
  }
  return book
}
