import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { Client } from '@upstash/qstash'
import { expect as expectWithMatchers, test } from 'stuntdouble/vitest'
import { expect } from 'vitest'

// The README shows how its first test fails. Another file of a shared process can override the options of `test`.

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (...given: unknown[]) => Promise<void>

test('the failure on the first page is printed by its test', async ({ sandbox }) => {
  const [, title = '', body = ''] =
    /^test\('(.*)', .* => \{\n(.*)^\}\)$/ms.exec(
      readFileSync(new URL('../../examples/guides/first-test.test.ts', import.meta.url), 'utf8'),
    ) ?? []
  const code = `const { clock, destinations, queue } = sandbox\n${body.replace('attempts: 3', 'attempts: 2')}`
  const broken = new AsyncFunction('sandbox', 'Client', 'expect', code)
  const error = await broken(sandbox, Client, expectWithMatchers).catch((thrown: Error) => thrown)
  // The command that replays the test names this file. A reader has another one.
  const replay = `Replay: STUNTDOUBLE_SEED=1 npx vitest run orders.test.ts -t '${title}'`
  const failure = stripVTControlCharacters(String(error?.message)).replace(/^Replay: .*$/m, replay)
  await expect(`${failure}\n`).toMatchFileSnapshot('../../examples/guides/first-test.failure.txt')
})
