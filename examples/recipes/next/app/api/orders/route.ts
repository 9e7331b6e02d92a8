import { Client } from '@upstash/qstash'

// The module reads QSTASH_URL and QSTASH_TOKEN on import.
const queue = new Client()

/** Accepts an order. Its receipt is written in the background. */
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
