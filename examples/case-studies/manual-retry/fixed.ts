import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Sends events to URLs of customers. An undelivered event has a button "Retry".

export const customer = 'https://customer.test/hooks'
export const failedUrl = 'https://events.test/api/failed'

async function send(eventId: string): Promise<void> {
  await new Client().publishJSON({ url: customer, body: { eventId }, retries: 0, failureCallback: failedUrl })
}

export async function happened(eventId: string): Promise<void> {
  await send(eventId)
}

/** Handles the button. Two clicks in a row cause one retry. */
export async function retry(eventId: string): Promise<void> {
  const isFirst = await Redis.fromEnv().set(`retried:${eventId}`, 1, { nx: true, ex: 86_400 })
  if (isFirst !== null) await send(eventId)
}

export async function failed(request: Request): Promise<Response> {
  const { sourceBody } = (await request.json()) as { sourceBody: string }
  const { eventId } = JSON.parse(atob(sourceBody)) as { eventId: string }
  // After another failure, the event may be retried again.
  await Redis.fromEnv().multi().sadd('undelivered', eventId).del(`retried:${eventId}`).exec()
  return new Response()
}
