import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Mirrors the repositories of customers. Every push sends a webhook, and a job fetches the changes.

export interface Push {
  /** ID of this webhook delivery. A redelivery on request has another ID. */
  readonly id: string
  readonly repository: string
  readonly day: string
}

export const fetchUrl = 'https://mirror.test/api/jobs/fetch'

/** Two pushes within a minute cause one fetch. */
export async function pushed({ repository, day }: Push): Promise<void> {
  const deduplicationId = `fetch-${repository}-${day}`
  await new Client().publishJSON({ url: fetchUrl, body: { repository }, deduplicationId, retries: 0 })
}

export async function fetchRepository(request: Request): Promise<Response> {
  const { repository } = (await request.json()) as Push
  await Redis.fromEnv().incr(`fetched:${repository}`)
  return new Response('fetched')
}
