import { Client } from '@upstash/qstash'

// A shop sends its orders to the warehouse.

export interface Order {
  readonly id: string
  readonly items: readonly string[]
}

export const warehouse = 'https://warehouse.test/orders'

/** Retries after an error response of the queue. The SDK itself retries without a response. */
export async function checkout(order: Order): Promise<void> {
  const queue = new Client()
  for (let tries = 1; ; tries++) {
    try {
      await queue.publishJSON({ url: warehouse, body: order })
      return
    } catch (error) {
      if (tries === 3) throw error
    }
  }
}
