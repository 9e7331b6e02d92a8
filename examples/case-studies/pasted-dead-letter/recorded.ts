import { defineScenario } from 'stuntdouble'

// Written by: npx stuntdouble import dead-letter.json --test
// Note: the records contain 1 of 4 attempts; the others are assumed to have failed like the last one.

const failure = {
  kind: 'status',
  status: 500,
  body: "TypeError: Cannot read properties of null (reading 'percent')",
} as const

export const recorded = defineScenario({
  name: 'order 4711',
  description: 'Imported from a record of the service.',
  startAt: '2024-09-03T00:34:18.000Z',
  destinations: [{ url: 'https://shop.example.org/api/orders', recorded: [failure, failure, failure, failure] }],
  steps: [
    {
      publish: {
        to: 'https://shop.example.org/api/orders',
        as: 'message',
        headers: { 'Content-Type': 'application/json' },
        body: '{"id":4711,"cents":1990,"coupon":null}',
        retries: 3,
      },
    },
    { drain: true },
  ],
  expect: [
    { recorded: { message: 'message', attempts: [500, 500, 500, 500], state: 'FAILED', response: failure.body } },
  ],
})
