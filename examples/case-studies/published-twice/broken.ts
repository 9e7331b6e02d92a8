import { Client } from '@upstash/qstash'

// A shop hands its orders to the warehouse.

export interface Order {
  readonly id: string
  readonly items: readonly string[]
}

export const warehouse = 'https://warehouse.test/orders'

/** Tries again when the queue says no. The SDK does so by itself when it hears nothing. */
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
