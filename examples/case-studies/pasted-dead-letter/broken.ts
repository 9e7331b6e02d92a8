// Receives the orders of a shop from the queue.

interface Order {
  readonly id: number
  readonly cents: number
  readonly coupon: { readonly percent: number } | null
}

export async function takeOrder(request: Request): Promise<Response> {
  const { id, cents, coupon } = (await request.json()) as Order
  const total = Math.round(cents * (1 - coupon!.percent / 100))
  return Response.json({ id, total })
}
