import { createSandbox } from 'stuntdouble'
import { expect, test } from 'vitest'
import { copyFormats } from '../../../src/report/copy/copy-forms.js'

test('a copied test replaces a blocking command of a connection by one that does not block', async () => {
  using sandbox = createSandbox()
  const { store, clock } = sandbox
  const begin = (...words: (string | number)[]): void => void store.connect().run(...words)
  begin('BLPOP', 'none', 'jobs', 0)
  begin('BLMPOP', 0, 2, 'jobs', 'mails', 'RIGHT', 'COUNT', 2)
  begin('BLMOVE', 'one', 'two', 'LEFT', 'RIGHT', 60)
  begin('BZPOPMIN', 'z', 0)
  begin('BLPOP', 'vain', 1)
  await clock.advance('2s')
  store.run('RPUSH', 'jobs', 'a')
  store.run('RPUSH', 'mails', 'b', 'c', 'd')
  store.run('RPUSH', 'one', 'e')
  store.run('ZADD', 'z', 1, 'm', 2, 'n')
  const { entries } = sandbox.traffic.toTrace()
  const copied = copyFormats.find(({ name }) => name === 'vitest')!.render({ entries, range: [1, entries.length] }, {})
  const lines = copied.split('\n').flatMap((line) => /store\.run\((.*)\)/.exec(line)?.[1] ?? [])
  const words = lines.map((line) => JSON.parse(`[${line.replaceAll("'", '"')}]`) as string[])
  expect(words.map((row) => row.join(' '))).toEqual([
    'RPUSH jobs a',
    'LPOP jobs',
    'RPUSH mails b c d',
    'LMPOP 1 mails RIGHT COUNT 2',
    'RPUSH one e',
    'LMOVE one two LEFT RIGHT',
    'ZADD z 1 m 2 n',
    'ZPOPMIN z',
  ])
  using again = createSandbox()
  for (const row of words) again.store.run(...row)
  expect(again.store.dump()).toEqual(store.dump())
})
