import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { captured, capturedWorlds } from '../../../test/report/copy/worlds.js'
import { type Ended, place, started } from './command-line.js'

const file = join(place, 'trace.json')
const copy = (...args: string[]): Promise<Ended> => started('copy', file, ...args).ended

test('copies from a trace in each format', async () => {
  const trace = await captured(capturedWorlds[0]!)
  writeFileSync(file, JSON.stringify(trace))
  const { messageId } = trace.entries.find(({ type }) => type === 'published')!

  const curl = await copy('--as', 'curl', '--entry', '1')
  expect(curl).toMatchObject({ code: 0, err: '' })
  expect(curl.out).toMatch(
    /^curl -sS .*--url "\$QSTASH_URL"\/v2\/publish\/https:\/\/shop.test\/orders .*Bearer '"\$QSTASH_TOKEN"/s,
  )
  expect((await copy('--as', 'sdk', '--entry', '1')).out).toContain(
    "client.publishJSON({\n  url: 'https://shop.test/orders',\n  body: { id: 42 },",
  )
  expect((await copy('--as', 'mermaid')).out).toMatch(/^sequenceDiagram\n/)
  expect((await copy('--as', 'prompt', '--message', String(messageId), '--question', 'Why twice?')).out).toMatch(
    /^Why twice\?\n/,
  )

  const scenario = await copy('--as', 'scenario', '--message', String(messageId))
  const played = join(place, 'found.json')
  writeFileSync(played, scenario.out)
  expect(await started('play', played).ended).toMatchObject({ code: 0 })
  writeFileSync(played, scenario.out.replace(' 503,', ' 404,'))
  expect(await started('play', played).ended).toMatchObject({ code: 1 })
})

test.each([
  [['--entry', '1'], '--as must be one of curl, sdk,'],
  [['--as', 'telex', '--entry', '1'], '--as must be one of curl, sdk,'],
  [['--as', 'curl', '--entry', '999'], '--entry 999 is not in this trace'],
  [['--as', 'curl', '--entry', 'x'], '--entry must be the number of an entry'],
  [['--as', 'curl'], '--as curl is not possible for this selection. Use one of vitest, jest,'],
  [['--as', 'curl', '--entry', '1', '--from', '2'], 'copy takes only one selection'],
  [['--as', 'vitest', '--message', 'msg_none'], '--message is not the ID of a message'],
])('rejects %j with one message', async (args, sentence) => {
  const { code, err } = await copy(...args)
  expect(code).toBe(2)
  expect(err).toContain(sentence)
})
