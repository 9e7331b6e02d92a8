import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

/** Stores the order and publishes a mail for an hour later. */
export async function placeOrder(id: number): Promise<void> {
  await Redis.fromEnv().set(`order:${id}`, 'placed')
  await new Client().publishJSON({ url: `${process.env.MAIL_URL}/send`, body: { about: id }, delay: '1h' })
}
