import { expect, test } from 'stuntdouble/vitest'

// Keys and messages use the same virtual clock. Three days pass in
// milliseconds.
test('an invitation expires after three days', async ({ sandbox }) => {
  const { clock, destinations, queue, store } = sandbox
  const remind = 'https://shop.test/remind'
  const reminders = destinations.record(remind)
  store.run('SET', 'invitation:ada', 'open', 'EX', 3 * 24 * 60 * 60)
  queue.publish({ to: remind, body: { to: 'ada' }, delay: '2d' })

  await clock.advance('2d')
  expect(reminders.last().json()).toEqual({ to: 'ada' })
  expect(store).toHaveKey('invitation:ada', { ttl: '1d' })

  await clock.advance('1d')
  expect(store).not.toHaveKey('invitation:ada')
})
