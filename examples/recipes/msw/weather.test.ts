import { HttpResponse, http } from 'msw'
import { expect, test } from 'vitest'
import { sandbox, server } from './sandbox.ts'

// Import the app after the sandbox, because it reads its environment on import.

import { temperature } from './weather.ts'

/** Sets the response of the other API. @returns a function that counts its requests */
function weather(answer: () => Response): () => number {
  let asked = 0
  server.use(
    http.get('https://weather.test/v1/:city', () => {
      asked++
      return answer()
    }),
  )
  return () => asked
}

test('requests the temperature once in ten minutes', async () => {
  const { clock, store } = sandbox
  const asked = weather(() => HttpResponse.json({ degrees: 18 }))
  expect(await temperature('york')).toBe(18)
  expect(await temperature('york')).toBe(18)
  expect(asked()).toBe(1)
  expect(store).toHaveKey('temperature:york', { value: 18, ttl: '10m' })

  await clock.advance('10m')
  expect(await temperature('york')).toBe(18)
  expect(asked()).toBe(2)
})

test('warns the city of frost', async () => {
  const { clock, destinations } = sandbox
  const frost = destinations.record('https://city.test/frost')
  weather(() => HttpResponse.json({ degrees: -4 }))
  await temperature('oslo')
  await clock.drain()
  expect(frost.last().json()).toEqual({ city: 'oslo', degrees: -4 })
})

test('does not cache an error of the other API', async () => {
  weather(() => new HttpResponse(null, { status: 500 }))
  await expect(temperature('york')).rejects.toThrow('No temperature for york: status 500')
  expect(sandbox.store).not.toHaveKey('temperature:york')
  server.resetHandlers()
  expect(await temperature('york')).toBe(21)
})
