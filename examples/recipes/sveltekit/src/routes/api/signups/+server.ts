import type { RequestHandler } from '@sveltejs/kit'
import { Client } from '@upstash/qstash'

const queue = new Client()

/** Accepts a sign-up. The welcome is written in the background. */
export const POST: RequestHandler = async ({ request }) => {
  const { email } = await request.json()
  await queue.publishJSON({ url: `${process.env.APP_URL}/api/welcome`, body: { email }, retries: 3 })
  return Response.json({ accepted: email }, { status: 202 })
}
