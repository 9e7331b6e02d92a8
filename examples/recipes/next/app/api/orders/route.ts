import { Client } from '@upstash/qstash'

// As it loads, the module reads QSTASH_URL and QSTASH_TOKEN.
const queue = new Client()

/** Takes an order; the receipt is written in the background. */
export async function POST(request: Request): Promise<Response> {
  const order = (await request.json()) as { id: number; cents: number }
  await queue.publishJSON({
    url: `${process.env.APP_URL}/api/receipt`,
    body: order,
    retries: 3,
    deduplicationId: `receipt-${order.id}`,
  })
  return Response.json({ accepted: order.id }, { status: 202 })
}
