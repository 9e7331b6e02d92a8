import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// The basket of a shop. A click on "Buy" stores the order and notifies the departments.

export interface Basket {
  readonly customer: string
  readonly items: Readonly<Record<string, number>>
}

const departments = ['warehouse', 'billing', 'mail']

export async function buy({ customer, items }: Basket): Promise<void> {
  const redis = Redis.fromEnv()
  const queue = new Client()
  const order = await redis.incr('orders')
  for (const [item, count] of Object.entries(items)) {
    await redis.hset(`order:${order}`, { [item]: count })
    for (const department of departments) {
      await queue.publishJSON({ url: `https://shop.test/api/${department}`, body: { order, customer, item, count } })
    }
  }
}
