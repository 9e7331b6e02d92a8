import type { FaultMatch, FaultRule } from 'stuntdouble'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../src/faults/catalog.js'
import type { FaultFacts } from '../../src/faults/fault.js'
import { utf8 } from '../../src/kernel/bytes.js'
import { createRandom, type Random } from '../../src/kernel/random.js'
import type { TrafficLog } from '../../src/kernel/traffic-log.js'
import { Faults } from '../../src/rules/fault-rules.js'

// Reference implementation: every rule is evaluated each time, patterns are regular expressions, and there is no index.

const wild = (pattern: string, flags = ''): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('.*')}$`,
    `s${flags}`,
  )

const urlFits = (pattern: string, url: string | undefined): boolean => {
  if (url === undefined) return false
  const bare = url.replace(/[?#].*$/s, '')
  const asked = pattern.includes('?') ? [url] : [url, bare]
  if (pattern.includes('*')) return asked.some((one) => wild(pattern, 'i').test(one))
  return asked.some((one) => new URL(one).href === new URL(pattern).href)
}

const fits: { [F in keyof FaultMatch]-?: (wanted: NonNullable<FaultMatch[F]>, facts: FaultFacts) => boolean } = {
  service: (wanted, { service }) => service === wanted,
  path: (wanted, { path }) => path !== undefined && wild(wanted).test(path),
  method: (wanted, { method }) => method?.toUpperCase() === wanted.toUpperCase(),
  url: (wanted, { url, destination }) => urlFits(wanted, url) || urlFits(wanted, destination),
  command: (wanted, { commands }) => commands?.some((name) => name === wanted.toUpperCase()) ?? false,
  key: (wanted, { keys }) => keys?.some((key) => wild(wanted).test(key)) ?? false,
  urlGroup: (wanted, { urlGroup }) => urlGroup === wanted,
  endpointName: (wanted, { endpointName }) => endpointName === wanted,
  queue: (wanted, { queue }) => queue === wanted,
  label: (wanted, { labels }) => labels?.includes(wanted) ?? false,
  headers: (wanted, facts) =>
    Object.entries(wanted).every(([name, value]) => {
      const given = facts.headers?.find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1]
      return given !== undefined && wild(value).test(given)
    }),
  attempt: (wanted, { attempt = 0 }) =>
    typeof wanted === 'number' ? attempt === wanted : attempt >= (wanted.from ?? 1) && attempt <= (wanted.to ?? 1e9),
  messageId: (wanted, { messageId }) => messageId === wanted,
  tenant: (wanted) => wanted === 'acme',
  flowControlKey: (wanted, { flowControlKey }) => flowControlKey === wanted,
  scheduleId: (wanted, { scheduleId }) => scheduleId === wanted,
  region: (wanted, { region }) => region === wanted,
  database: (wanted, { database }) => database === wanted,
  workflow: (wanted, { workflow }) => urlFits(wanted, workflow),
  step: (wanted, { step }) => step === wanted,
  stepType: (wanted, { stepType }) => stepType === wanted,
  runId: (wanted, { runId }) => runId === wanted,
}

class SlowRules {
  readonly rules: { rule: FaultRule; added: number; matched: number; struck: number }[] = []

  ask(point: string, facts: FaultFacts, now: number): string[] {
    const names: string[] = []
    for (const one of this.rules) {
      const { rule, added } = one
      if (![rule.on].flat().includes(point as never)) continue
      if (now < added + Number(rule.from ?? 0) || now >= added + Number(rule.until ?? Number.POSITIVE_INFINITY))
        continue
      const match = Object.entries(rule.match ?? {}) as [keyof FaultMatch, never][]
      if (!match.every(([field, wanted]) => fits[field](wanted, facts))) continue
      one.matched++
      const turn = one.matched - 1 - (rule.skip ?? 0)
      if (turn < 0 || turn % (rule.every ?? 1) !== 0 || one.struck >= (rule.times ?? Number.POSITIVE_INFINITY)) continue
      one.struck++
      names.push(rule.name!)
      if (catalog[rule.fault.kind].effect === 'answers') break
    }
    return names
  }
}

const words = ['a', 'b', 'ab', 'abc']
const urls = [
  'https://a.test/',
  'https://a.test/b',
  'https://a.test/b?c=1',
  'https://b.test/a/b',
  'HTTPS://A.TEST/b',
  'https://a.test:443/b',
]
const urlPatterns = [...urls, 'https://a.test/*', 'https://*/b', '*', 'https://a.test/b?*', 'HTTPS://a.Test/*', '*b']
const keyPatterns = [...words, 'a*', '*b', 'a*c', '*']
const one = <T>(random: Random, list: readonly T[]): T => list[random.int(list.length)]!

const fields: { [F in keyof FaultMatch]-?: (random: Random) => NonNullable<FaultMatch[F]> } = {
  service: (random) => one(random, ['store', 'queue', 'stats'] as const),
  path: (random) => one(random, ['/v2/a', '/v2/*', '/v2/b', '*/b', '/a*b']),
  method: (random) => one(random, ['get', 'POST']),
  url: (random) => one(random, urlPatterns),
  command: (random) => one(random, ['get', 'SET']),
  key: (random) => one(random, keyPatterns),
  urlGroup: (random) => one(random, words),
  endpointName: (random) => one(random, words),
  queue: (random) => one(random, words),
  label: (random) => one(random, words),
  headers: (random) => ({ [one(random, ['X-A', 'x-b'])]: one(random, ['a', 'a*', '*']) }),
  attempt: (random) => one(random, [1, 2, { from: 2 }, { to: 2 }, { from: 2, to: 3 }]),
  messageId: (random) => one(random, ['m1', 'm2']),
  tenant: (random) => one(random, ['acme', 'other']),
  flowControlKey: (random) => one(random, words),
  scheduleId: (random) => one(random, words),
  region: (random) => one(random, words),
  database: (random) => one(random, words),
  workflow: (random) => one(random, urlPatterns),
  step: (random) => one(random, words),
  stepType: (random) => one(random, words),
  runId: (random) => one(random, words),
}

function someMatch(random: Random): FaultMatch {
  const names = Object.keys(fields) as (keyof FaultMatch)[]
  const count = random.int(3)
  return Object.fromEntries(
    Array.from({ length: count }, () => one(random, names)).map((name) => [name, fields[name](random)]),
  )
}

const points = ['queue.delivery', 'queue.callback'] as const

function someRule(random: Random, name: string): FaultRule {
  const from = random.int(6)
  return {
    on: random.chance(1, 4) ? points : one(random, points),
    name,
    match: someMatch(random),
    ...(random.chance(1, 4) && { from, until: from + 1 + random.int(20) }),
    ...(random.chance(1, 3) && { skip: random.int(3) }),
    ...(random.chance(1, 3) && { every: 1 + random.int(3) }),
    ...(random.chance(1, 3) && { times: 1 + random.int(3) }),
    fault: one(random, [
      { kind: 'latency', waitMs: 1 },
      { kind: 'bad-signature', flaw: 'key' },
      { kind: 'reset' },
      { kind: 'pass' },
    ] as const),
  } as FaultRule
}

function someFacts(random: Random): FaultFacts {
  const maybe = <T>(make: () => T): T | undefined => (random.chance(2, 3) ? make() : undefined)
  const headers = ['X-A', 'x-b'].flatMap((name) => maybe(() => [[name, one(random, words)] as const]) ?? [])
  return {
    service: one(random, ['store', 'queue', 'stats'] as const),
    path: maybe(() => one(random, ['/v2/a', '/v2/b', '/ab'])),
    method: one(random, ['GET', 'POST']),
    url: maybe(() => one(random, urls)),
    destination: maybe(() => one(random, urls)),
    commands: maybe(() => [one(random, ['GET', 'SET']), one(random, ['GET', 'SET'])]),
    keys: maybe(() => [utf8(one(random, words)), utf8(one(random, words))]),
    urlGroup: maybe(() => one(random, words)),
    endpointName: maybe(() => one(random, words)),
    queue: maybe(() => one(random, words)),
    labels: maybe(() => [one(random, words), one(random, words)]),
    attempt: maybe(() => 1 + random.int(4)),
    messageId: maybe(() => one(random, ['m1', 'm2'])),
    flowControlKey: maybe(() => one(random, words)),
    scheduleId: maybe(() => one(random, words)),
    region: maybe(() => one(random, words)),
    database: maybe(() => one(random, words)),
    workflow: maybe(() => one(random, urls)),
    step: maybe(() => one(random, words)),
    stepType: maybe(() => one(random, words)),
    runId: maybe(() => one(random, words)),
    headers,
  }
}

describe('rules found by an index are injected as rules evaluated one by one', () => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed))('agree for seed %i', (seed) => {
    const random = createRandom(seed)
    let now = 0
    const log: string[] = []
    const append = (entry: { readonly rule?: string }): unknown => {
      log.push(entry.rule!)
      return entry
    }
    const traffic = { append } as unknown as Pick<TrafficLog, 'append'>
    const faults = new Faults({
      now: () => now,
      random: random.fork('dice'),
      traffic,
      tenant: 'acme',
      databases: words,
    })
    const slow = new SlowRules()
    const handles: { remove(): void }[] = []
    let struck = 0
    for (let step = 0; step < 600; step++) {
      const dice = random.int(10)
      if (dice === 0) now += random.int(5)
      else if (dice < 3) {
        const rule = someRule(random, `r${step}`)
        handles.push(faults.add(rule))
        slow.rules.push({ rule, added: now, matched: 0, struck: 0 })
      } else if (dice === 3 && slow.rules.length > 20) {
        const at = random.int(slow.rules.length)
        slow.rules.splice(at, 1)
        handles.splice(at, 1)[0]!.remove()
      } else {
        const point = one(random, points)
        const facts = someFacts(random)
        const strikes = faults.injections(point, facts) ?? []
        log.length = 0
        for (const strike of strikes) strike.log(undefined, '')
        expect(log).toEqual(slow.ask(point, facts, now))
        struck += log.length
      }
    }
    expect(faults.rules.map(({ rule, matched, injected: times }) => [rule.name, matched, times])).toEqual(
      slow.rules.map(({ rule, matched, struck: times }) => [rule.name, matched, times]),
    )
    expect(struck).toBeGreaterThan(50)
  })
})
