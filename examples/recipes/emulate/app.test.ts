import { expect, test } from 'vitest'
import { double } from './sandbox.ts'

// Import the app after the sandbox, because it reads its environment on import.

import { startTrial } from './app.ts'

const remind = 'https://shop.test/remind'

test('restores the state of the fifth day, with its time', async () => {
  await startTrial('ada')
  await double.sandbox.clock.advance('5d')
  const fifthDay = double.sandbox.clock.now()
  const snapshot = double.snapshot()

  await double.sandbox.clock.advance('2d')
  expect(double.sandbox.store).toHaveKey('reminded', { value: ['ada'] })
  expect(double.sandbox.store).not.toHaveKey('trial:ada')

  await double.restore(snapshot)
  expect(double.sandbox.clock.now()).toBe(fifthDay)
  expect(double.sandbox.store).toHaveKey('trial:ada', { value: 'active', ttl: '2d' })
  expect(double.sandbox.store).not.toHaveKey('reminded')

  await double.sandbox.clock.advance('1d')
  expect(double.sandbox.queue).toHaveDelivered({ to: remind, attempts: [200] })
  expect(double.sandbox.store).toHaveKey('reminded', { value: ['ada'] })
})

test('resets the state and the time', async () => {
  const start = double.sandbox.clock.now()
  await startTrial('ada')
  await double.sandbox.clock.advance('1d')

  await double.reset()
  expect(double.sandbox.clock.now()).toBe(start)
  expect(double.sandbox.store).not.toHaveKey('trial:ada')
  expect(double.sandbox).toBeIdle()
})

test('ends a trial after seven days', async () => {
  await startTrial('grace')
  await double.sandbox.clock.advance('6d')
  expect(double.sandbox.store).toHaveKey('trial:grace', { ttl: '1d' })
  await double.sandbox.clock.advance('1d')
  expect(double.sandbox.store).not.toHaveKey('trial:grace')
})
