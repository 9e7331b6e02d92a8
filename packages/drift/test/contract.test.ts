import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { upstashDialect } from '../../../src/protocol/dialect.js'
import { documentedCommands } from '../../../test/support/documented-commands.js'
import { neverSent } from '../src/allowed-requests.js'
import type { Observation } from '../src/case.js'
import { queueContract } from '../src/contract/queue-contract.js'
import { storeContract } from '../src/contract/store-contract.js'
import { DoubleSide } from '../src/double-side.js'
import { neverAsked } from '../src/harmless-queue.js'

// Commands are checked against docs/protocol/commands.json, and error texts against the fact sheet.

const seen: Observation[] = []
const asked = new Set<string>()
beforeAll(async () => {
  for (const one of storeContract) {
    const side = new DoubleSide('sd_drift_a_', upstashDialect, undefined)
    await one.run(side, (each) => seen.push(each))
  }
  for (const { argv } of seen) {
    const [first = '', second = ''] = (argv ?? []).map((word) => word.toUpperCase())
    asked.add(first).add(`${first} ${second}`)
  }
})

test('the contract sends every documented command, or names it as never sent', () => {
  const missing = documentedCommands()
    .filter(({ status, door }) => status === 'documented' && door === undefined)
    .map(({ name }) => name)
    .filter((name) => !asked.has(name) && !neverSent.some(({ names }) => names.test(name)))
  expect(missing).toEqual([])
})

/** Why the contract cannot produce an error text. */
const unreached: Readonly<Record<string, string>> = {
  'ERR source and destination objects are the same': 'the service copies a key onto itself: store.md 7.2',
  'ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX':
    'the service takes LIMIT with ranks: docs/reference/commands.md, ZRANGE',
  "ERR unknown subcommand 'FOO'. Try XGROUP HELP.": 'produced with a subcommand that no server has',
}

test('the contract produces every error text of the fact sheet, or states why not', () => {
  const sheet = readFileSync(new URL('../../../docs/protocol/store.md', import.meta.url), 'utf8')
  const shown = [
    ...sheet
      .slice(sheet.indexOf('### 7.3'), sheet.indexOf('### 7.4'))
      .matchAll(/`((?:ERR|WRONGTYPE|BUSYGROUP|BUSYKEY|NOGROUP) [^`]+)`/g),
  ]
    .map(([, text]) => text!)
    .filter((text) => !/<|…|integer … |'x'|'foo'/.test(text))
  const answered = JSON.stringify(seen.map(({ value }) => value)).replaceAll('\\"', '"')
  const missing = shown.filter((text) => !answered.includes(text))
  expect(shown.length).toBeGreaterThan(60)
  expect(missing.filter((text) => !(text in unreached))).toEqual([])
  expect(Object.keys(unreached).filter((text) => answered.includes(text))).toEqual([])
})

test('the contract uses only instructions for the endpoint that the page documents', async () => {
  const sent: string[] = []
  for (const one of queueContract.filter(({ needs }) => !needs.includes('listener'))) {
    const side = new DoubleSide('sd_drift_a_', upstashDialect, { url: 'https://hook.test/a', deliveries: () => [] })
    const ask = side.ask.bind(side)
    side.ask = (each) => {
      sent.push(each.path)
      return ask(each)
    }
    await one.run(side, () => {})
  }
  const asked = sent.flatMap((path) => path.match(/[?&](?:status|fails)=\w+/g) ?? [])
  expect(asked.length).toBeGreaterThan(0)
  // A 489 has its meaning only together with a header of the service.
  expect(asked.filter((each) => /=489$/.test(each))).toEqual([])
})

test('the contract calls every endpoint of the queue in the reference, or states why not', async () => {
  const page = readFileSync(new URL('../../../docs/reference/queue.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ([A-Z, ]+) \| `(\/[^`]*)` \|/gm)].map(([, methods, path]) => ({
    methods: methods!.split(', '),
    path: path!,
  }))
  expect(rows.length).toBeGreaterThan(35)
  const asked: string[] = []
  for (const one of queueContract) {
    const side = new DoubleSide('sd_drift_a_', upstashDialect, { url: 'https://hook.test/a', deliveries: () => [] })
    const ask = side.ask.bind(side)
    side.ask = (each) => {
      asked.push(`${each.method} ${each.path.split('?')[0]}`)
      return ask(each)
    }
    await one.run(side, () => {})
  }
  // The program checks first whether the queue responds. The page at its root reports nothing but readiness.
  const elsewhere = ['GET /v2/queues', 'GET /']
  const named = neverAsked.flatMap(({ name }) => name.split(', '))
  const isAsked = (method: string, path: string): boolean => {
    const form = path.replace(/:\w+/g, '[^/]+').replace('{rest}', '.+')
    return asked.some((each) => new RegExp(`^${method} ${form}$`).test(each))
  }
  const missing = rows
    .filter(({ methods, path }) => !methods.some((method) => isAsked(method, path)))
    .flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`))
  expect(missing.filter((each) => !named.includes(each) && !elsewhere.includes(each))).toEqual([])
  expect(named.filter((each) => !missing.includes(each))).toEqual([])
})
