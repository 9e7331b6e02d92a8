import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// A third party reads documents. The page shows the progress from the queue's callback about each attempt.

export const reader = 'https://reader.test/documents'
export const reportUrl = 'https://library.test/api/report'

export async function read(document: string): Promise<void> {
  await new Client().publishJSON({ url: reader, body: { document }, callback: reportUrl, retryDelay: '5000' })
}

interface Report {
  readonly status: number
  readonly retried: number
  readonly sourceBody: string
}

export async function report(request: Request): Promise<Response> {
  const { status, sourceBody } = (await request.json()) as Report
  const { document } = JSON.parse(atob(sourceBody)) as { document: string }
  const redis = Redis.fromEnv()
  await redis.set(`state:${document}`, status < 300 ? 'done' : 'trying again')
  return new Response()
}
