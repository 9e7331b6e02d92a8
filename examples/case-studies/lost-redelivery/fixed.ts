import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// Keeps a copy of each customer's repository. Every push is a webhook; a job fetches what is new.

export interface Push {
  /** Of this delivery of the webhook: one that somebody asks for again has another. */
  readonly id: string
  readonly repository: string
  readonly day: string
}

export const fetchUrl = 'https://mirror.test/api/jobs/fetch'

/** A webhook that comes twice is one fetch; one that is asked for again is another. */
export async function pushed({ id, repository }: Push): Promise<void> {
  const deduplicationId = `fetch-${repository}-${id}`
  await new Client().publishJSON({ url: fetchUrl, body: { repository }, deduplicationId, retries: 0 })
}

export async function fetchRepository(request: Request): Promise<Response> {
  const { repository } = (await request.json()) as Push
  await Redis.fromEnv().incr(`fetched:${repository}`)
  return new Response('fetched')
}
