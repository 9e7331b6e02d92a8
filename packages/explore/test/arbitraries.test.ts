import fc from 'fast-check'
import { createSandbox } from 'stuntdouble'
import { arb } from 'stuntdouble/fast-check'
import { describe, expect, test } from 'vitest'
import { CronExpression } from '../../../src/kernel/cron.js'
import { publishOptions } from '../../../src/queue/settings/publish-options.js'
import { playScenario } from '../../../src/scenarios/play-scenario.js'
import { defineScenario } from '../../../src/scenarios/scenario.js'
import { commandTable } from '../../../src/store/commands/index.js'

const seed = 20_300_101
const sample = <T>(arbitrary: fc.Arbitrary<T>, count = 500): T[] => fc.sample(arbitrary, { numRuns: count, seed })
const camel = (name: string): string => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe('arb.command()', () => {
  test('generates commands of all groups, most of which succeed', () => {
    const { store } = createSandbox()
    const rows = sample(arb.command(), 3000)
    const names = new Set(rows.map(([name]) => name))
    const documented = commandTable.commands.filter(({ status }) => status === 'documented')
    const missing = documented.filter(({ name }) => !names.has(name.split(' ')[0]!))
    expect(missing.length).toBeLessThan(documented.length / 20)
    let refused = 0
    for (const words of rows) {
      try {
        store.run(...words)
      } catch {
        refused++
      }
    }
    expect(refused).toBeGreaterThan(100)
    expect(refused).toBeLessThan(2000)
  })

  test('generates only the chosen commands, and shrinks to the simplest form of one', () => {
    const one = arb.command({ only: (name) => name === 'SET' })
    expect(new Set(sample(one, 50).map(([name]) => name))).toEqual(new Set(['SET']))
    const found = fc.check(
      fc.property(one, (words) => words.length < 5),
      { seed },
    )
    expect(found.counterexample?.[0].slice(0, 3)).toEqual(['SET', 'k', 'a'])
    expect(() => arb.command({ only: () => false })).toThrow('arb.command(): `only` excludes every command')
  })
})

describe('arb.message()', () => {
  test('generates every option of the table', () => {
    const seen = new Set(sample(arb.message()).flatMap((message) => Object.keys(message)))
    const wanted = publishOptions.filter(({ name, on }) => on === undefined && name !== 'header-forward')
    expect(wanted.map(({ name }) => camel(name)).filter((name) => !seen.has(name))).toEqual([])
    expect(seen).toContain('failureCallbackRetryDelay')
  })

  test('generates messages that the queue accepts', () => {
    const { queue, traffic } = createSandbox()
    const all = sample(arb.message())
    for (const message of all) queue.publish(message)
    expect(traffic.ofType('published')).toHaveLength(all.length)
  })

  test('generates steps of a scenario', async () => {
    const steps = sample(arb.message(), 100).map((publish) => ({ publish }))
    expect(defineScenario({ name: 'generated', steps }).steps).toHaveLength(100)
  })

  test('shrinks to a message without options', () => {
    const found = fc.check(
      fc.property(arb.message(), (message) => message.retries === undefined),
      { seed },
    )
    expect(found.counterexample?.[0]).toEqual({ to: 'https://shop.test/orders', retries: 0 })
  })

  test('generates only the chosen options', () => {
    const seen = new Set(
      sample(arb.message({ to: ['fans'], only: ['body'] })).flatMap((message) => Object.keys(message)),
    )
    expect([...seen].sort()).toEqual(['body', 'to'])
    // @ts-expect-error There is no such option.
    expect(() => arb.message({ only: ['colour'] })).toThrow(/option "colour".*one of to, body,/)
  })
})

test('arb.schedule() generates steps of a scenario that the queue accepts', async () => {
  const steps = sample(arb.schedule(), 100).map((schedule) => ({ schedule }))
  const play = await playScenario(defineScenario({ name: 'generated', steps }))
  expect(play.verdict()).toContain('Holds')
})

test('arb.cron() generates expressions that the queue accepts, and shrinks to every minute', () => {
  for (const cron of sample(arb.cron())) expect(() => new CronExpression(cron)).not.toThrow()
  const found = fc.check(
    fc.property(arb.cron(), (cron) => cron.length > 100),
    { seed },
  )
  expect(found.counterexample).toEqual(['* * * * *'])
})

test('arb.clockMove() generates steps of a scenario', async () => {
  const moves = sample(arb.clockMove({ maxLength: 3_600_000 }), 50)
  const play = await playScenario(defineScenario({ name: 'moves', startAt: 0, steps: moves }))
  expect(play.endedAt).toBe(moves.reduce((sum, { advance }) => sum + advance, 0))
  expect(Math.max(...moves.map(({ advance }) => advance))).toBeLessThanOrEqual(3_600_000)
})
