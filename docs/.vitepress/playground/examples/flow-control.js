import { expect, test } from 'stuntdouble/vitest'

// Five letters, two at a time, and each takes ten seconds to print:
// the last one starts after twenty.
test('the printer gets two letters at a time', async ({ sandbox }) => {
  const { clock, destinations, queue } = sandbox
  const printer = 'https://shop.test/print'
  let printing = 0
  let most = 0
  destinations.on(printer, async (_request, task) => {
    most = Math.max(most, ++printing)
    await task.sleep('10s')
    printing--
    return new Response('printed')
  })

  for (let letter = 1; letter <= 5; letter++) {
    queue.publish({
      to: printer,
      body: { letter },
      flowControlKey: 'printer',
      flowControlValue: 'parallelism=2',
    })
  }
  await clock.drain()

  expect(most).toBe(2)
  expect(queue).toHaveDelivered({ to: printer }, { times: 5 })
})
