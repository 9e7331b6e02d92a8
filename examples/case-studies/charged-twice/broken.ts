import { Client } from '@upstash/qstash'

// A shop that charges orders at a bank, through the queue.

export interface Order {
  readonly id: string
  readonly cents: number
}

export const payUrl = 'https://shop.test/api/pay'
export const bank = 'https://bank.test/charges'

export async function checkout(order: Order): Promise<void> {
  await new Client().publishJSON({ url: payUrl, body: order, retries: 3 })
}

export async function pay(request: Request): Promise<Response> {
  const { id, cents } = (await request.json()) as Order
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(bank, { method: 'POST', headers, body: JSON.stringify({ cents }) })
  return Response.json({ order: id, paid: answer.ok }, { status: answer.ok ? 200 : 502 })
}
