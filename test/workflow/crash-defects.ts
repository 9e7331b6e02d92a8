import { Client as QueueClient } from '@upstash/qstash'
import { Client, type WorkflowContext } from '@upstash/workflow'
import { serve } from '@upstash/workflow/nextjs'
import type { Sandbox } from '../../src/index.js'

/** What an app of these tests can use: its services, and nothing that only tests have. */
export interface App {
  readonly sandbox: Sandbox
  readonly client: Client
  readonly queue: QueueClient
  /** Sends a request of the app itself to a third party. */
  charge(id: string, key?: string): Promise<void>
}

type Route = (context: WorkflowContext<{ id: string }>) => Promise<unknown>

export const url = 'https://shop.test/api/order'
export const payments = 'https://pay.test/charges'
/** Sends an event that the app requests. */
const bank = 'https://bank.test/ask'
export const mails = 'https://mail.test/send'

/** An app with one workflow, served by the unmodified SDK. Everything in it is created again in every process. */
export function appWith(make: (app: App) => Route): (sandbox: Sandbox) => () => Promise<unknown> {
  return (sandbox) => {
    const connection = { baseUrl: sandbox.urls.queue, token: sandbox.tokens.queue }
    const queue = new QueueClient(connection)
    const client = new Client(connection)
    const charge = async (id: string, key?: string): Promise<void> => {
      await fetch(payments, { method: 'POST', body: id, headers: key === undefined ? {} : { 'idempotency-key': key } })
    }
    const { POST } = serve<{ id: string }>(make({ sandbox, client, queue, charge }), {
      qstashClient: queue,
      receiver: undefined as never,
    })
    sandbox.destinations.on(url, POST as unknown as (request: Request) => Promise<Response>)
    sandbox.destinations.respond(mails, 200)
    sandbox.destinations.respond('https://third.test/*', 200)
    sandbox.destinations.on(bank, async (request) => {
      await client.notify((await request.json()) as never)
      return new Response()
    })
    return () => {
      sandbox.store.run('SADD', 'cart', 'line 0', 'line 1')
      return client.trigger({ url, body: { id: 'o1' } })
    }
  }
}

/** Lines of the cart that are not done yet. */
function waiting({ store }: Sandbox): number {
  return Number(store.run('SCARD', 'cart'))
}

export interface Defect {
  readonly name: string
  readonly broken: (app: App) => Route
  readonly mended: (app: App) => Route
}

export const calls = { [payments]: () => new Response('{}') }

export const defects: readonly Defect[] = [
  {
    name: 'charges outside a step',
    broken:
      ({ charge }) =>
      async (context) => {
        await context.run('look', () => 1)
        await charge(context.requestPayload.id)
        await context.run('end', () => 2)
      },
    mended:
      ({ charge }) =>
      async (context) => {
        await context.run('look', () => 1)
        await context.run('charge', () => charge(context.requestPayload.id, 'o1'))
        await context.run('end', () => 2)
      },
  },
  {
    name: 'a counter in a step without a key',
    broken:
      ({ sandbox }) =>
      async (context) => {
        await context.run('count', () => void sandbox.store.run('INCR', 'orders'))
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        await context.run('count', () => void sandbox.store.run('SADD', 'orders', context.requestPayload.id))
      },
  },
  {
    name: 'time outside steps',
    broken: () => async (context) => {
      await context.run('begin', () => 1)
      await context.sleepUntil('morning', new Date(Date.now() + 60_000))
      await context.run('end', () => 2)
    },
    mended: () => async (context) => {
      const at = await context.run('begin', () => Date.now() + 60_000)
      await context.sleepUntil('morning', new Date(at))
      await context.run('end', () => 2)
    },
  },
  {
    name: 'chance outside steps',
    broken:
      ({ sandbox }) =>
      async (context) => {
        const ticket = Math.floor(Math.random() * 1e9).toString(36)
        await context.call('reserve', { url: `https://third.test/${ticket}`, method: 'POST', body: ticket })
        await context.run('write', () => void sandbox.store.run('SET', 'reserved', '1'))
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const ticket = await context.run('draw', () => Math.floor(Math.random() * 1e9).toString(36))
        await context.call('reserve', { url: `https://third.test/${ticket}`, method: 'POST', body: ticket })
        await context.run('write', () => void sandbox.store.run('SET', 'reserved', '1'))
      },
  },
  {
    name: 'a mail before the store knows of it',
    broken:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('confirm', async () => {
          if (sandbox.store.get('mailed') !== null) return
          await queue.publishJSON({ url: mails, body: { to: context.requestPayload.id } })
          await queue.publishJSON({ url: mails, body: { copy: 'office' }, deduplicationId: 'office' })
          sandbox.store.run('SET', 'mailed', '1')
        })
      },
    mended:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('confirm', () => void sandbox.store.run('SET', 'mailed', '1'))
        await context.run('mail', async () => {
          await queue.publishJSON({ url: mails, body: { to: context.requestPayload.id }, deduplicationId: 'mail-o1' })
        })
      },
  },
  {
    name: 'writes, then throws, and writes again',
    broken:
      ({ sandbox }) =>
      async (context) => {
        await context.run('write', () => {
          sandbox.store.run('RPUSH', 'lines', context.requestPayload.id)
          if (sandbox.store.run('EXISTS', 'checked') === 0) {
            sandbox.store.run('SET', 'checked', '1')
            throw new Error('try again')
          }
        })
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        await context.run('write', () => {
          sandbox.store.run('HSET', 'lines', context.requestPayload.id, '1')
          if (sandbox.store.run('EXISTS', 'checked') === 0) {
            sandbox.store.run('SET', 'checked', '1')
            throw new Error('try again')
          }
        })
      },
  },
  {
    name: 'reads in one step and adds in the next',
    broken:
      ({ sandbox }) =>
      async (context) => {
        const before = await context.run('read', () => Number(sandbox.store.get('balance') ?? 0))
        await context.run('write', () => {
          sandbox.store.run('INCRBY', 'balance', 10 + before)
        })
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const before = await context.run('read', () => Number(sandbox.store.get('balance') ?? 0))
        await context.run(
          'write',
          () => void sandbox.store.run('HSET', 'booked', context.requestPayload.id, before + 10),
        )
      },
  },
  {
    name: 'a call without an idempotency key',
    broken:
      ({ charge }) =>
      async (context) => {
        await context.run('charge', () => charge(context.requestPayload.id))
        await context.run('end', () => 1)
      },
    mended:
      ({ charge }) =>
      async (context) => {
        const key = await context.run('key', () => crypto.randomUUID())
        await context.run('charge', () => charge(context.requestPayload.id, key))
      },
  },
  {
    name: 'branches that share a counter',
    broken:
      ({ sandbox }) =>
      async (context) => {
        const next = (branch: string) => () => {
          const nth = Number(sandbox.store.run('INCR', 'seats'))
          sandbox.store.run('HSET', 'seat', branch, nth)
        }
        await Promise.all([context.run('a', next('a')), context.run('b', next('b'))])
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const take = (branch: string, seat: number) => () => void sandbox.store.run('HSET', 'seat', branch, seat)
        await Promise.all([context.run('a', take('a', 1)), context.run('b', take('b', 2))])
      },
  },
  {
    name: 'tells others before it has written',
    broken:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('tell and write', async () => {
          const state = sandbox.store.get('state') ?? 'new'
          await queue.publishJSON({ url: mails, body: { state } })
          sandbox.store.run('SET', 'state', 'paid')
        })
      },
    mended:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('write', () => void sandbox.store.run('SET', 'state', 'paid'))
        await context.run('tell', async () => {
          await queue.publishJSON({ url: mails, body: { state: 'paid' }, deduplicationId: 'told-o1' })
        })
      },
  },
  {
    name: 'a result in a global variable',
    broken: ({ sandbox }) => {
      let price: number | undefined
      return async (context) => {
        await context.run('price', () => {
          price = 42
        })
        await context.run('write', () => void sandbox.store.run('SET', 'price', String(price)))
      }
    },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const price = await context.run('price', () => 42)
        await context.run('write', () => void sandbox.store.run('SET', 'price', String(price)))
      },
  },
  {
    name: 'a loop whose bound comes from outside a step',
    broken:
      ({ sandbox }) =>
      async (context) => {
        for (let nth = 0; nth < waiting(sandbox); nth++) {
          await context.run(`item ${nth}`, () => void sandbox.store.run('SREM', 'cart', `line ${nth}`))
        }
        await context.run('end', () => void sandbox.store.run('SET', 'ended', '1'))
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const wanted = await context.run('count', () => waiting(sandbox))
        for (let nth = 0; nth < wanted; nth++) {
          await context.run(`item ${nth}`, () => void sandbox.store.run('SREM', 'cart', `line ${nth}`))
        }
        await context.run('end', () => void sandbox.store.run('SET', 'ended', '1'))
      },
  },
  {
    name: "a catch that takes the SDK's abort for a failure",
    broken:
      ({ sandbox }) =>
      async (context) => {
        try {
          await context.run('pay', () => 'paid')
        } catch (error) {
          sandbox.store.run('INCR', 'failures')
          throw error
        }
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        const paid = await context.run('pay', () => 'paid')
        if (paid !== 'paid') await context.run('failed', () => void sandbox.store.run('SADD', 'failures', 'o1'))
      },
  },
  {
    name: 'a compensation that can run twice',
    broken:
      ({ sandbox }) =>
      async (context) => {
        await context.run('take', () => void sandbox.store.run('SET', 'stock', '9'))
        const paid = await context.run('pay', () => false)
        if (!paid) await context.run('give back', () => void sandbox.store.run('INCRBY', 'stock', 1))
      },
    mended:
      ({ sandbox }) =>
      async (context) => {
        await context.run('take', () => void sandbox.store.run('SET', 'stock', '9'))
        const paid = await context.run('pay', () => false)
        if (!paid) await context.run('give back', () => void sandbox.store.run('SET', 'stock', '10'))
      },
  },
  {
    name: 'a publish without a deduplication id',
    broken:
      ({ queue }) =>
      async (context) => {
        await context.run('ask', async () => {
          await queue.publishJSON({ url: mails, body: { ask: context.requestPayload.id } })
        })
      },
    mended:
      ({ queue }) =>
      async (context) => {
        await context.run('ask', async () => {
          await queue.publishJSON({ url: mails, body: { ask: context.requestPayload.id }, deduplicationId: 'ask-o1' })
        })
      },
  },
  {
    name: 'a guard that is written before what it guards',
    broken:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('confirm', async () => {
          if (sandbox.store.run('SET', 'confirmed', '1', 'NX') === null) return
          await queue.publishJSON({ url: mails, body: { to: context.requestPayload.id }, deduplicationId: 'mail-o1' })
        })
      },
    mended:
      ({ sandbox, queue }) =>
      async (context) => {
        await context.run('confirm', async () => {
          if (sandbox.store.get('confirmed') !== null) return
          await queue.publishJSON({ url: mails, body: { to: context.requestPayload.id }, deduplicationId: 'mail-o1' })
          sandbox.store.run('SET', 'confirmed', '1')
        })
      },
  },
  {
    name: 'an event that may come before somebody waits for it',
    broken:
      ({ queue, sandbox }) =>
      async (context) => {
        await context.run('ask', async () => {
          const body = { eventId: 'paid-o1', eventData: 'yes' }
          await queue.publishJSON({ url: bank, body, delay: 5, deduplicationId: 'ask-o1' })
        })
        const { eventData } = await context.waitForEvent('paid', 'paid-o1', { timeout: '1h' })
        await context.run('write', () => void sandbox.store.run('SET', 'paid', String(eventData)))
      },
    mended:
      ({ queue, sandbox }) =>
      async (context) => {
        await context.run('ask', async () => {
          const body = { eventId: 'paid-o1', eventData: 'yes', workflowRunId: context.workflowRunId }
          await queue.publishJSON({ url: bank, body, delay: 5, deduplicationId: 'ask-o1' })
        })
        const { eventData } = await context.waitForEvent('paid', 'paid-o1', { timeout: '1h' })
        await context.run('write', () => void sandbox.store.run('SET', 'paid', String(eventData)))
      },
  },
]
