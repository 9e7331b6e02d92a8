import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { Client } from '@upstash/qstash'
import { expect as expectWithMatchers, test as withSandbox } from 'stuntdouble/vitest'
import { expect, test } from 'vitest'
import { sampleFiles, samplePages, samplesOf, withSamples } from '../support/samples.js'

const root = new URL('../..', import.meta.url).pathname
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

test.each(samplePages.filter((page) => samplesOf(read(page)).length > 0))(
  '%s shows files of examples as they are (`npm run docs` writes them)',
  (page) => expect(read(page)).toBe(withSamples(read(page))),
)

test('every file of examples/guides is shown on a page', () => {
  const shown = new Set(samplePages.flatMap((page) => samplesOf(read(page))))
  expect([...shown].filter((file) => file.startsWith('examples/guides/')).sort()).toEqual(sampleFiles)
})

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (...given: unknown[]) => Promise<void>

withSandbox('the failure on the first page is printed by its test', async ({ sandbox }) => {
  const [, title = '', body = ''] =
    /^test\('(.*)', .* => \{\n(.*)^\}\)$/ms.exec(read('examples/guides/first-test.test.ts')) ?? []
  const code = `const { clock, destinations, queue } = sandbox\n${body.replace('attempts: 3', 'attempts: 2')}`
  const broken = new AsyncFunction('sandbox', 'Client', 'expect', code)
  const error = await broken(sandbox, Client, expectWithMatchers).catch((thrown: Error) => thrown)
  // The command that replays the test names this file. A reader has another one.
  const replay = `Replay: STUNTDOUBLE_SEED=1 npx vitest run orders.test.ts -t '${title}'`
  const failure = stripVTControlCharacters(String(error?.message)).replace(/^Replay: .*$/m, replay)
  await expect(`${failure}\n`).toMatchFileSnapshot('../../examples/guides/first-test.failure.txt')
})
