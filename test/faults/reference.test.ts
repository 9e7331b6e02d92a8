import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultKinds } from '../../src/faults/catalog.js'
import { ruleProblems } from '../../src/rules/rule-schema.js'
import { faultReference } from '../support/fault-reference.js'
import { withFaultTables } from '../support/fault-tables.js'

const page = readFileSync(new URL('../../docs/faults.md', import.meta.url), 'utf8')

const reference = readFileSync(new URL('../../docs/reference/faults.md', import.meta.url), 'utf8')

test('the table of docs/faults.md and the reference are up to date: `npm run docs` writes them', async () => {
  expect(page).toBe(withFaultTables(page))
  expect(reference).toBe(await faultReference())
})

test('docs/faults.md links to the reference of every fault', () => {
  const links = [...page.matchAll(/\]\(reference\/faults\.md#([\w-]+)\)/g)].map(([, kind]) => kind!)
  expect(links.filter((kind) => kind !== 'faults-by-injection-point').sort()).toEqual([...faultKinds].sort())
})

test('the reference shows an effect for every fault', () => {
  for (const kind of faultKinds) {
    const from = reference.indexOf(`\n## ${kind}\n`)
    expect(from, kind).toBeGreaterThan(0)
    const part = reference.slice(from).split('\n## ')[1]!
    expect(part, kind).toMatch(new RegExp(`^ +#\\d+ .* fault ${kind} injected at `, 'm'))
  }
})

test.each([
  [{ on: 'store.requests', fault: { kind: 'reset' } }],
  [{ on: 'store.request', fault: { kind: 'latancy' } }],
  [{ on: 'store.request', fault: { kind: 'latency', waitMS: 3 } }],
  [{ on: 'store.request', from: '30s', until: '10s', fault: { kind: 'reset' } }],
  [{ on: 'store.request', times: 0, fault: { kind: 'reset' } }],
  [{ on: 'store.command', fault: { kind: 'status', status: 500 } }],
  [{ on: 'store.request', phase: 'before', fault: { kind: 'truncate', afterBytes: 3 } }],
])('docs/faults.md quotes the actual message: %j', (rule) => {
  const [problem] = ruleProblems(rule)
  const said = problem!.sentence.split(/ (?:Use|The fields) /)[0]!
  expect(page).toContain(said)
})
