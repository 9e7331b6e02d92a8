import { describe } from 'vitest'
import { defineScenario } from '../../src/scenarios/scenario.js'
import { command, story } from './story.js'

const charge = 'https://shop.test/charge'
const visits = 'https://shop.test/visits'

describe('lost acknowledgement', () => {
  // The handler charged the card and crashed, or its response was lost, before the queue received it.
  story({
    scenario: defineScenario({
      name: 'lost acknowledgement charges twice',
      faults: [{ on: 'queue.delivery', match: { url: charge, attempt: 1 }, fault: { kind: 'lost-ack' } }],
      steps: [{ publish: { to: charge, as: 'order', body: { id: 42, cents: 1990 } } }, { drain: true }],
      expect: [
        { delivered: { message: 'order', attempts: [0, 200] } },
        { key: { name: 'charged:42', value: '1990' } },
        { invariants: true },
      ],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(charge, async (request) => {
        const { id, cents } = (await request.json()) as { id: number; cents: number }
        await command(sandbox, 'INCRBY', `charged:${id}`, cents)
        return new Response('charged')
      })
    },
    // All attempts have the same message ID, so the first handler that stores it does the work.
    fixed: (sandbox) => {
      sandbox.destinations.on(charge, async (request) => {
        const { id, cents } = (await request.json()) as { id: number; cents: number }
        const mark = `seen:${request.headers.get('service-message-id')}`
        if ((await command(sandbox, 'SET', mark, 1, 'NX')) === null) return new Response('charged before')
        await command(sandbox, 'INCRBY', `charged:${id}`, cents)
        return new Response('charged')
      })
    },
    breaks: /✗ expect\[1\]\.key[\s\S]*expected '1990', received '3980'/,
  })
})

describe('duplicate delivery of a counter', () => {
  // At-least-once delivery: two copies arrive at the same time, and both read the counter before either writes it.
  story({
    scenario: defineScenario({
      name: 'non-idempotent counter under concurrent duplicates',
      faults: [{ on: 'queue.delivery', fault: { kind: 'duplicate', concurrent: true } }],
      steps: [
        { publish: { to: visits, as: 'visit', times: 3, body: { page: 'home', visitor: '{n}' } } },
        { drain: true },
      ],
      expect: [
        { delivered: { message: 'visit', times: 3 } },
        { reached: { url: visits, times: 3 } },
        { key: { name: 'visits:home', type: 'set', value: ['1', '2', '3'] } },
        { key: { name: 'total', value: '3' } },
      ],
    }),
    broken: (sandbox) => {
      sandbox.destinations.on(visits, async (request) => {
        const { page, visitor } = (await request.json()) as { page: string; visitor: string }
        await command(sandbox, 'SADD', `visits:${page}`, visitor)
        await command(sandbox, 'INCR', 'total')
        return new Response('counted')
      })
    },
    // SADD reports whether the visitor is new, so one command checks and records the visit.
    fixed: (sandbox) => {
      sandbox.destinations.on(visits, async (request) => {
        const { page, visitor } = (await request.json()) as { page: string; visitor: string }
        const isNew = (await command(sandbox, 'SADD', `visits:${page}`, visitor)) === 1
        if (isNew) await command(sandbox, 'INCR', 'total')
        return new Response('counted')
      })
    },
    breaks: /✗ expect\[3\]\.key[\s\S]*expected '3', received '6'/,
  })
})

describe('deduplication window', () => {
  // A failed import is published again by hand with the ID of the first one, so the queue ignores it for ten minutes.
  const importer = 'https://shop.test/import'
  const button = 'https://shop.test/import-again'

  const scenario = defineScenario({
    name: 'deduplication window swallowing a redelivery',
    destinations: [{ url: importer, script: [{ kind: 'status', status: 422 }] }],
    steps: [
      { publish: { to: button, body: { file: 'prices.csv', click: 1 }, retries: 0 } },
      { advance: '1m' },
      { expect: { deadLetters: 1 } },
      // The file was fixed, and a user clicks again.
      { publish: { to: button, body: { file: 'prices.csv', click: 2 }, retries: 0 } },
      { drain: true },
    ],
    expect: [{ key: { name: 'imported', value: 'prices.csv' } }],
  })
  story({
    scenario,
    broken: (sandbox) => {
      sandbox.destinations.on(button, async (request) => {
        const { file } = (await request.json()) as { file: string }
        sandbox.queue.publish({ to: importer, body: { file }, deduplicationId: `import-${file}`, retries: 0 })
        return new Response('on its way')
      })
      sandbox.destinations.on(importer, async (request) => {
        const { file } = (await request.json()) as { file: string }
        await command(sandbox, 'SET', 'imported', file)
        return new Response('imported')
      })
    },
    // The ID names the click, not the file: a double click is one import, a second click is another.
    fixed: (sandbox) => {
      sandbox.destinations.on(button, async (request) => {
        const { file, click } = (await request.json()) as { file: string; click: number }
        sandbox.queue.publish({ to: importer, body: { file }, deduplicationId: `import-${file}-${click}`, retries: 0 })
        return new Response('on its way')
      })
      sandbox.destinations.on(importer, async (request) => {
        const { file } = (await request.json()) as { file: string }
        await command(sandbox, 'SET', 'imported', file)
        return new Response('imported')
      })
    },
    breaks: /✗ expect\[0\]\.key/,
  })
})
