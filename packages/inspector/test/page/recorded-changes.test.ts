import { expect, test } from 'vitest'
import { leftTrace } from '../../../../fixtures/left-trace.js'
import { createSandbox } from '../../../../src/index.js'
import { toHtml } from '../../../../src/report/index.js'
import { story } from './opened.js'

interface Change {
  readonly key: string
  readonly now?: { readonly value?: unknown }
}

/** Returns the changes of the store in a page. */
function changesIn(html: string): readonly Change[] {
  const blocks = [...html.matchAll(/<script type="application\/json" data-block="changes">(.*?)<\/script>/gs)]
  return blocks.flatMap(([, json]) => JSON.parse(json!) as Change[])
}

test('a page contains the changes of its store, from a sandbox and from a failed test', async () => {
  const sandbox = await story()
  const { traffic, store } = sandbox
  store.run('HSET', 'user:1', 'name', 'ada')
  store.run('DEL', 'stock')
  const made = changesIn(toHtml(traffic))
  expect(made.map(({ key, now }) => [key, now !== undefined])).toEqual([
    ['stock', true],
    ['user:1', true],
    ['stock', false],
  ])
  expect(changesIn(toHtml(leftTrace(sandbox, undefined, undefined)))).toEqual(made)
  expect(changesIn(toHtml(JSON.stringify(traffic)))).toEqual([])
})

test('changes in a page contain no secret, and long values are cut', () => {
  const { traffic, store, tokens } = createSandbox()
  store.run('HSET', 'user', 'password', 'hunter2-hash', 'name', 'ada')
  for (let count = 0; count < 100; count++)
    store.run('HSET', 'long-hash', `f${count}`, 'v', `password${count}`, `hunter2-${count}`)
  store.run('XADD', 'log', '*', 'token', 'hunter2-stream', 'name', 'ada')
  store.run('SET', 'json', '{"access_token":"hunter2-json"}')
  store.run('JSON.SET', 'doc', '$', '{"api_key":"hunter2-doc","name":"ada"}')
  store.run('SET', 'stolen', tokens.store)
  store.run('SET', 'long', 'x'.repeat(100_000))
  const html = toHtml(traffic)
  expect(html).toContain('"ada"')
  expect(/hunter2-\w+/.exec(html)?.[0]).toBeUndefined()
  expect(html.includes(tokens.store)).toBe(false)
  expect(/x{5000}/.test(JSON.stringify(changesIn(html)))).toBe(false)
})

test.each(['{}', '[{"seq":"x"}]', '[null]', '"text"', '[{"seq":1,"at":0,"key":{"toString":1}}]'])(
  'a page omits invalid changes: %s',
  async (changes) => {
    const trace = { ...(await story()).traffic.toTrace(), changes: JSON.parse(changes) as unknown }
    expect(changesIn(toHtml(JSON.stringify(trace)))).toEqual([])
  },
)
