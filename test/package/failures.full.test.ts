import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Example, programOf, readPage } from '../failures/page.ts'
import { asShown, isPrinted, type Run, runnerNames, runUnder } from '../failures/runners.ts'

// Checks that real runners print the failures of docs/reference/matchers.md.

const consumer = inject('consumer')
const page = readPage(readFileSync(new URL('../../docs/reference/matchers.md', import.meta.url), 'utf8'))

const matcherNames = Object.keys(
  ((await import(join(consumer, 'node_modules/stuntdouble/dist/matchers.js'))) as { sandboxMatchers: object })
    .sandboxMatchers,
).filter((name) => name.startsWith('to'))

test('shows a failure of every matcher on the page', () => {
  const shown = matcherNames.filter((name) => page.examples.some(({ code }) => code.includes(`.${name}(`)))
  expect(shown).toEqual(matcherNames)
})

describe.each(runnerNames)('%s', (runner) => {
  let run: Run
  beforeAll(async () => {
    run = await runUnder(runner, consumer, programOf(page, runner))
  })

  test.each(page.examples.map((example): [string, Example] => [example.title, example]))(
    '%s: prints what the page shows',
    (title, { shown }) => {
      const message = run.tests.get(title)?.message
      expect(`${asShown(runner, message!, title)}\n`).toBe(shown)
      expect(isPrinted(run.printed, message!), `in the terminal:\n${run.printed}`).toBe(true)
    },
  )
})
