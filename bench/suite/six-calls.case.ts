import { expect, test } from 'stuntdouble/vitest'
import { sixCalls } from './calls.js'
import { noteTime } from './spent.js'

noteTime()
for (let number = 0; number < 200; number++) {
  test(`number ${number}`, async ({ sandbox: { clock, destinations, store } }) => {
    const orders = destinations.record('https://shop.test/orders')
    await sixCalls(number)
    await clock.advance('1s')
    expect(orders.last().json()).toEqual({ id: number })
    expect(store.get('orders')).toBe('1')
  })
}
