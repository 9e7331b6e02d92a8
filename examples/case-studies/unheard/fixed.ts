import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'

// A third party renders videos. The queue reports the result to one of two URLs.

export const renderer = 'https://render.test/jobs'
export const doneUrl = 'https://studio.test/api/done'
export const failedUrl = 'https://studio.test/api/failed'

export async function render(video: string): Promise<void> {
  await Redis.fromEnv().hset('videos', { [video]: 'rendering' })
  const told = { callback: doneUrl, failureCallback: failedUrl }
  await new Client().publishJSON({ url: renderer, body: { video }, retries: 2, ...told })
}

interface Told {
  readonly status: number
  readonly sourceBody: string
}

export async function done(request: Request): Promise<Response> {
  const told = (await request.json()) as Told
  return told.status < 300 ? note(told, 'ready') : new Response('it will be tried again')
}

export async function failed(request: Request): Promise<Response> {
  return note((await request.json()) as Told, 'failed')
}

async function note({ sourceBody }: Told, state: string): Promise<Response> {
  const { video } = JSON.parse(atob(sourceBody)) as { video: string }
  await Redis.fromEnv().hset('videos', { [video]: state })
  return new Response()
}

/** Returns the report that the editor gets every morning: failed videos and undelivered callbacks. */
export async function report(): Promise<string> {
  const videos = (await Redis.fromEnv().hgetall<Record<string, string>>('videos')) ?? {}
  const failed = Object.keys(videos).filter((video) => videos[video] === 'failed')
  const { messages } = await new Client().dlq.listMessages()
  const undelivered = messages.map(({ url, responseStatus }) => `${url} (${responseStatus})`)
  const all = [...failed, ...undelivered]
  return all.length === 0 ? 'All is well.' : `Look after ${all.join(', ')}.`
}
