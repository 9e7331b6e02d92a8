import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { stripVTControlCharacters } from 'node:util'
import { Client } from '@upstash/qstash'
import { Redis } from '@upstash/redis'
import { fault, type Sandbox } from 'stuntdouble'
import { expect as expectWithMatchers, test } from 'stuntdouble/vitest'
import { expect } from 'vitest'

// docs/migrate-from-mocks.md shows how a test with a sandbox fails for the app that passes with mocks.

type Run = (fixtures: { readonly sandbox: Sandbox }) => Promise<void>

const AsyncFunction = (async () => {}).constructor as new (...code: string[]) => (...given: unknown[]) => Promise<void>

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/guides/migrate-mocks-${name}.test.ts`, import.meta.url), 'utf8')

test('the failure of the app that passes with mocks is printed by the test with a sandbox', async ({ sandbox }) => {
  const [broken = ''] = /^ {2}const order: Order = .*$/m.exec(example('before.alone')) ?? []
  const source = example('after')
    .replace(/^import .*$/gm, '')
    .replace(/^ {2}const order = .*$/m, broken)
  expect(source).toContain(broken)

  const tests: [title: string, run: Run][] = []
  const given = { Client, Redis, fault, expect: expectWithMatchers, test: (...all: [string, Run]) => tests.push(all) }
  await new AsyncFunction(...Object.keys(given), stripTypeScriptTypes(source))(...Object.values(given))
  const [title, run] = tests[0]!
  const error = await run({ sandbox }).catch((thrown: Error) => thrown)
  sandbox.reset() // The message that failed is still pending.
  const failure = stripVTControlCharacters(String(error?.message))
    // The command that replays the test names this file. A reader has another one.
    .replace(/^Replay: .*$/m, `Replay: STUNTDOUBLE_SEED=1 npx vitest run receipt.test.ts -t '${title}'`)
    .replace(/^ {2}in .*\n/m, '')
  await expect(`${failure}\n`).toMatchFileSnapshot('../../examples/guides/migrate-mocks.failure.txt')
})
