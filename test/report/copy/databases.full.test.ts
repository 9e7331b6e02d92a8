import { expect, test, vi } from 'vitest'
import { createSandbox } from '../../../src/index.js'
import { copyFormats } from '../../../src/report/copy/copy-forms.js'
import { playedByVitest } from './played.js'

vi.setConfig({ testTimeout: 120_000 })

test('a copied test of commands, requests and messages with several databases runs', async () => {
  using sandbox = createSandbox({ databases: ['eu', 'us'], startAt: '2030-01-01T09:00:00Z' })
  const { urls, tokens, store, storeIn, destinations, queue, clock } = sandbox
  store.run('SET', 'a', 'first')
  storeIn('us').run('SET', 'a', 'second')
  const headers = { authorization: `Bearer ${tokens.databases.us!.store}` }
  await sandbox.fetch(urls.databases.us!, { method: 'POST', headers, body: '["INCR","a"]' })
  await sandbox.fetch(`${urls.databases.us!}/pipeline`, {
    method: 'POST',
    headers,
    body: '[["GET","a"],["SET","b",1]]',
  })
  destinations.respond('https://shop.test/orders', 200)
  queue.publish({ to: 'https://shop.test/orders' })
  await clock.drain()
  const { entries, ...trace } = sandbox.traffic.toTrace()
  const vitest = copyFormats.find(({ name }) => name === 'vitest')!
  const copied = vitest.render({ entries, range: [1, entries.length] }, trace as never)
  const probe =
    "\n  expect(sandbox.storeIn('us').get('b')).toBe('1')\n  expect(sandbox.store.get('b')).toBe(null)\n})\n"
  const { passed, output } = await playedByVitest({ copied: copied.replace(/\n\}\)\n$/, probe) })
  expect([...passed], output).toEqual(['copied'])
})
