import { expect, test } from 'stuntdouble/vitest'

// The printer gets at most two of five jobs at the same time. Each job
// takes ten seconds, so the last one starts after twenty seconds.
test('the printer gets two jobs at a time', async ({ sandbox }) => {
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

  for (let job = 1; job <= 5; job++) {
    queue.publish({
      to: printer,
      body: { job },
      flowControlKey: 'printer',
      flowControlValue: 'parallelism=2',
    })
  }
  await clock.drain()

  expect(most).toBe(2)
  expect(queue).toHaveDelivered({ to: printer }, { times: 5 })
})
