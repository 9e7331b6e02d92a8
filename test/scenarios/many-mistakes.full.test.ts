import { describe, expect, test } from 'vitest'
import { readScenario } from '../../packages/server/src/tenant-scenario/scenario-file.js'
import { editDistance, nearestName } from '../../src/kernel/nearest-name.js'
import { ruleProblems } from '../../src/rules/rule-schema.js'
import { scenarioProblems } from '../../src/scenarios/scenario.js'

// Ten thousand mistakes are reported only partially, and the cost of a name depends on its length and not on the
// file.
const many = 50_000
const lines = (line: (at: number) => string): string => Array.from({ length: many }, (_, at) => line(at)).join('')

describe('a file that contains only mistakes is rejected', () => {
  test.each([
    ['unknown fields', `name: x\n${lines((at) => `unknown${at}: 1\n`)}`, 'there is no "unknown0"'],
    ['unknown steps', `name: x\nsteps:\n${lines((at) => `  - unknown${at}: 1\n`)}`, 'there is no "unknown0"'],
    ['unknown points', `name: x\nfaults:\n${lines((at) => `  - on: q${at}\n`)}`, 'there is no point "q0"'],
    ['equal fields', `name: x\n${lines(() => 'u: 1\n')}`, 'Map keys must be unique'],
    [
      'JSON',
      JSON.stringify(Object.fromEntries([['name', 'x'], ...Array.from({ length: many }, (_, at) => [`k${at}`, 1])])),
      'there is no "k0"',
    ],
  ])('of %s', (_, source, sentence) => {
    expect(() => readScenario(source, 'a.yaml')).toThrow(sentence)
  })

  test('with at most twenty messages', () => {
    const steps = Array.from({ length: 100 }, (_, at) => ({ [`unknown${at}`]: 1 }))
    expect(scenarioProblems({ name: 'x', steps })).toHaveLength(20)
    const on = Array.from({ length: many }, (_, at) => `q${at}`)
    expect(ruleProblems({ on, fault: { kind: 'reset' } }).length).toBeLessThanOrEqual(20)
  })
})

describe('the nearest name', () => {
  test.each([
    ['publsh', ['publish', 'request', 'drain'], 'publish'],
    ['PUBLISH', ['publish', 'request'], 'publish'],
    ['drane', ['drain', 'drop'], 'drain'],
    ['completely-else', ['drain', 'publish'], undefined],
  ])('to %s of %j is %s', (name, names, expected) => {
    expect(nearestName(name, names)).toBe(expected)
  })

  test('is the same whether or not the search stops early', () => {
    const words = [
      'store.request',
      'store.command',
      'queue.request',
      'queue.delivery',
      'queue.callback',
      'stats.request',
    ]
    for (const one of words) {
      for (let cut = 0; cut < one.length; cut++) {
        const slip = one.slice(0, cut) + one.slice(cut + 1)
        const least = Math.min(...words.map((word) => editDistance(slip, word)))
        expect(editDistance(slip, nearestName(slip, words)!)).toBe(least)
      }
    }
  })

  test('among a hundred thousand keys is found with few comparisons', () => {
    const keys = Array.from({ length: 100_000 }, (_, at) => `${'k'.repeat(at % 500)}${at}`)
    expect(nearestName('user:42', [...keys, 'user:43'])).toBe('user:43')
  })
})
