import { execFileSync } from 'node:child_process'
import { createSandbox } from 'stuntdouble'
import { expect } from 'stuntdouble/vitest'
import { describe, test } from 'vitest'
import { sandboxOf } from '../../fixtures/fixture-sandbox.js'
import { placeOf, placeOfTask, replayCommand, type TestLocation } from '../../matchers/failure/test-location.js'
import { printedBy } from './failure.js'

/** Parses a command like a POSIX shell: its arguments, and the seed in its environment. */
function read(command: string): { words: string[]; seed: string } {
  const npx = 'npx() { printf "%s\\0" "$STUNTDOUBLE_SEED" "$@"; }'
  const out = execFileSync('sh', ['-c', `${npx}\n${command}`], { encoding: 'utf8' })
  const [seed = '', ...words] = out.split('\0').slice(0, -1)
  return { seed, words }
}

const vitest = (...names: string[]): TestLocation => ({
  runner: 'vitest',
  file: `${process.cwd()}/test/orders.test.ts`,
  names,
})

test('returns a command for each runner', () => {
  expect(replayCommand(vitest('a retried order'), 7)).toBe(
    "STUNTDOUBLE_SEED=7 npx vitest run test/orders.test.ts -t 'a retried order'",
  )
  expect(replayCommand({ ...vitest('a retried order'), runner: 'jest' }, 'shop')).toBe(
    "STUNTDOUBLE_SEED=shop npx jest test/orders.test.ts -t 'a retried order'",
  )
  expect(
    replayCommand({ runner: 'playwright', file: '/elsewhere/app.spec.ts', line: 12, project: 'chromium' }, 7),
  ).toBe('STUNTDOUBLE_SEED=7 npx playwright test --project=chromium /elsewhere/app.spec.ts:12')
  expect(replayCommand({ ...vitest('t'), project: 'unit' }, undefined)).toBe(
    'npx vitest run --project=unit test/orders.test.ts -t t',
  )
})

describe('quotes names for the shell and for the filter of the runner', () => {
  test.each([
    'it\'s 5 $ (50%) [a|b] `x` \\ "quoted" $HOME $y !z *',
    '-t --version; rm -rf /',
    'two\nlines\tand \u001b[31m escapes \u202e',
    'ünïcode 🎉 names',
    "'''",
    '^start.end$',
  ])('%j', (name) => {
    const { words, seed } = read(replayCommand(vitest('orders', name), "a 'seed'"))
    expect(seed).toBe("a 'seed'")
    const [tool, run, file, flag, filter, ...rest] = words
    expect([tool, run, file, flag, rest]).toEqual(['vitest', 'run', 'test/orders.test.ts', '-t', []])
    // The versions of Vitest separate names by a blank or by ` > `.
    for (const between of [' ', ' > ']) expect(`orders${between}${name}`).toMatch(new RegExp(filter!))
    expect(`orders another name`).not.toMatch(new RegExp(filter!))
    expect(filter).not.toMatch(/[\u0000-\u001f\u202e]/)
  })

  test('escapes regular-expression characters in a file name', () => {
    const file = "/app/[id]/it's (new)/page+x.test.ts"
    const { words } = read(replayCommand({ runner: 'jest', file, names: ['a'] }, 1))
    expect(file).toMatch(new RegExp(`^${words[1]!}$`))
    expect(read(replayCommand({ runner: 'vitest', file, names: [] }, 1)).words).toEqual(['vitest', 'run', file])
  })
})

test('reads the location of a test from the state of its runner', ({ task }) => {
  expect(placeOfTask(task)).toMatchObject({
    runner: 'vitest',
    file: expect.stringMatching(/replay\.test\.ts$/),
    names: ['reads the location of a test from the state of its runner'],
  })
  expect(placeOf({ isNot: false })).toBeUndefined()
  expect(placeOf(undefined)).toBeUndefined()
})

describe('a test within suites', () => {
  test('is printed by a failing matcher', () => {
    using sandbox = createSandbox({ seed: 'it is 9' })
    const text = printedBy(() => expect(sandbox.store).toHaveKey('k'))
    expect(text).toMatch(
      /\nReplay: STUNTDOUBLE_SEED='it is 9' npx vitest run (?:--project=\S+ )?test\/matchers\/replay\.test\.ts -t 'a test within suites\.\*is printed by a failing matcher'\n/,
    )
  })
})

test('sets the seed of fixtures, over their options', () => {
  const before = process.env.STUNTDOUBLE_SEED
  try {
    for (const [given, seed] of [
      ['9', 9],
      ['shop', 'shop'],
      ['007', '007'],
    ] as const) {
      process.env.STUNTDOUBLE_SEED = given
      using sandbox = sandboxOf({ seed: 7 })
      expect(sandbox.traffic.context.seed).toBe(seed)
    }
    process.env.STUNTDOUBLE_SEED = ''
    using sandbox = sandboxOf({ seed: 7 })
    expect(sandbox.traffic.context.seed).toBe(7)
  } finally {
    if (before === undefined) delete process.env.STUNTDOUBLE_SEED
    else process.env.STUNTDOUBLE_SEED = before
  }
})
