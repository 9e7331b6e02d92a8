import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Receives the changes of accounts, one after another.

export const changesUrl = 'https://bank.test/api/changes'

export async function change(fields: unknown): Promise<void> {
  const accounts = new Client().queue({ queueName: 'accounts' })
  await accounts.enqueueJSON({ url: changesUrl, body: fields, retries: 5 })
}

export async function applyChange(request: Request): Promise<Response> {
  const { account, address } = (await request.json()) as { account: string; address?: { city: string } }
  // A change that can never succeed is not retried, so that the next one is delivered.
  if (address === undefined) {
    return new Response('no address', { status: 489, headers: { 'Upstash-NonRetryable-Error': 'true' } })
  }
  await Redis.fromEnv().hset(account, { city: address.city })
  return new Response()
}
