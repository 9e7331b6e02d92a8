import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { scenarios } from '../../packages/explore/src/scenarios.js'
import { maxFile, readScenario, ScenarioFileError } from '../../packages/server/src/tenant-scenario/scenario-file.js'

const complaint = (source: string): string => {
  try {
    readScenario(source, 'outage.yaml')
  } catch (error) {
    if (error instanceof ScenarioFileError) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

/** Returns a file with one mistake at the position of `‸`, which the line and column must match. */
function marked(text: string): { source: string; place: string } {
  const before = text.slice(0, text.indexOf('‸')).split('\n')
  return { source: text.replace('‸', ''), place: `outage.yaml:${before.length}:${before.at(-1)!.length + 1}: ` }
}

describe('a mistake in a scenario file is reported with line, column and the nearest name', () => {
  test.each([
    ['an unknown field', 'name: a\n‸sed: 7\nfaults: []\n', 'there is no "sed". Did you mean "seed"?'],
    ['an unknown step', 'name: a\nsteps:\n  - ‸publsh: { to: x }\n', 'there is no "publsh". Did you mean "publish"?'],
    [
      'an unknown option',
      'name: a\nsteps:\n  - publish:\n      to: https://a.test\n      ‸retrys: 3\n',
      'Did you mean "retries"?',
    ],
    ['a value of the wrong kind', 'name: a\nsteps:\n  - advance: ‸5 minutes\n', 'must be a duration such as'],
    ['a missing field', 'name: a\nsteps:\n  - ‸publish: { retries: 3 }\n', '"to" is missing'],
    [
      'an unknown fault',
      'name: a\nfaults:\n  - on: queue.delivery\n    fault: { kind: ‸lost-akc }\n',
      'there is no fault "lost-akc". Did you mean "lost-ack"?',
    ],
    [
      'an unknown point',
      'name: a\nfaults:\n  - { on: ‸queue.delivry, fault: { kind: reset } }\n',
      'Did you mean "queue.delivery"?',
    ],
    [
      'a rule that never strikes',
      'name: a\nfaults:\n  - { on: queue.delivery, times: ‸0, fault: { kind: reset } }\n',
      'times must be a whole number, at least 1 (got 0)',
    ],
    [
      'a window that ends before it begins',
      'name: a\nfaults:\n  - { on: queue.delivery, from: 5m, until: ‸1m, fault: { kind: reset } }\n',
      'until must be after \'from\' (got "1m"',
    ],
    [
      'a missing group',
      'name: a\ngiven: { urlGroups: { fleet: [https://a.test] } }\nsteps:\n  - publish: { to: ‸fleat }\n',
      'there is no URL group "fleat". Did you mean "fleet"?',
    ],
    [
      'a missing message',
      'name: a\nsteps:\n  - publish: { to: https://a.test, as: order }\nexpect:\n  - delivered: { message: ‸ordre }\n',
      'there is no message "ordre". Did you mean "order"?',
    ],
    [
      'an unknown expectation',
      'name: a\nsteps: [{ drain: true }]\nexpect:\n  - ‸delivred: {}\n',
      'Did you mean "delivered"?',
    ],
    [
      'an unknown invariant',
      'name: a\nsteps: [{ drain: true }]\nexpect:\n  - invariants: [‸no-lost-mesage]\n',
      'Did you mean "no-lost-message"?',
    ],
    ['an unknown policy', 'name: a\npolicy: { ‸retrys: 3 }\nsteps: [{ drain: true }]\n', 'Did you mean "retries"?'],
    [
      'a policy of the wrong kind',
      'name: a\npolicy: { retries: ‸many }\nsteps: [{ drain: true }]\n',
      'must be a number (got "many")',
    ],
    [
      'a fault that cannot be a step of a script',
      'name: a\ndestinations:\n  - url: https://a.test\n    script: [{ kind: ‸reorder, withinMs: 5 }]\n',
      'reorder cannot be a step of a script',
    ],
    [
      'a mistake behind a delay',
      'name: a\ndestinations:\n  - url: https://a.test\n    script: [{ kind: delay, waitMs: 5, then: { kind: ‸statu } }]\n',
      'Did you mean "status"?',
    ],
    [
      'no cron',
      'name: a\ngiven:\n  schedules:\n    - { id: x, to: https://a.test, cron: ‸every day }\n',
      'must be a cron pattern of five fields',
    ],
    [
      'no retry delay',
      'name: a\nsteps:\n  - publish: { to: https://a.test, retryDelay: ‸pow(2 }\n',
      'must be an expression for a delay in milliseconds',
    ],
    [
      'no value of a dump',
      'name: a\ngiven:\n  store:\n    format: stuntdouble/store\n    version: 1\n    keys:\n      - ‸key: a\n        type: hash\n        fields: 7\n',
      'must be a key of a dump',
    ],
    ['a line that is no YAML', 'name: a\nsteps:\n  - publish: { to: https://a.test\n‸', 'Flow map in block collection'],
    ['a field that comes twice', 'name: a\n‸name: b\n', 'keys must be unique'],
    [
      'JSON with tabs',
      '{\n\t"name": "a",\n\t"steps": [\n\t\t{ "pauseQueue": ‸"orders" }\n\t]\n}\n',
      'there is no queue "orders"',
    ],
    ['Windows line ends', 'name: a\r\nsteps:\r\n  - advance: ‸soon\r\n', 'must be a duration such as'],
    ['a text in place of an object', 'name: a\nsteps:\n  - ‸drian\n', 'must be an object with the field "drain"'],
  ])('%s', (_, text, sentence) => {
    const { source, place } = marked(text)
    const message = complaint(source)
    expect(message.split('\n')[0]).toMatch(new RegExp(`^${place.replaceAll('.', '\\.')}`))
    expect(message).toContain(sentence)
  })

  test('every mistake is reported on its own line', () => {
    const lines = complaint('name: a\nsed: 1\nsteps:\n  - publsh: {}\n  - advance: soon\n').split('\n')
    expect(lines.map((line) => line.split(':')[1]).sort()).toEqual(['2', '4', '5'])
  })

  test('an empty file, a list, and a number are rejected', () => {
    expect(complaint('')).toBe('outage.yaml:1:1: The file is empty.')
    expect(complaint('# nothing\n')).toBe('outage.yaml:1:1: The file is empty.')
    expect(complaint('7\n')).toContain('must be an object (got 7)')
    expect(complaint('name: nothing happens\n')).toContain('must not be empty. Add faults')
  })
})

describe('an untrusted scenario file', () => {
  test('cannot contain tags, so it cannot run code', () => {
    for (const tag of [
      '!!js/function',
      '!!js/regexp',
      '!!python/object',
      '!own',
      '!!binary',
      '!<tag:evil.test,2000:x>',
    ]) {
      expect(complaint(`name: ${tag} "x"\nsteps: [{ drain: true }]\n`)).toContain('Tags are not allowed')
    }
  })

  test('cannot contain keys of the prototype at any depth', () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      const message = complaint(
        `name: a\nsteps:\n  - publish:\n      to: https://a.test\n      body: { deep: { ${key}: { polluted: true } } }\n`,
      )
      expect(message).toContain(`outage.yaml:5:23: The key "${key}" is not allowed.`)
    }
    expect(complaint('{"__proto__": {"name": "a"}}')).toContain('is not allowed')
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('cannot contain merge keys', () => {
    expect(complaint('name: a\n<<: { seed: 7 }\nsteps: [{ drain: true }]\n')).toContain('there is no "<<"')
  })

  test('cannot expand aliases exponentially', () => {
    const lines = ['name: a', 'about: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]']
    for (let level = 1; level < 10; level++) {
      lines.push(`l${level}: &l${level} [${Array.from({ length: 10 }, () => `*l${level - 1}`).join(', ')}]`)
    }
    expect(complaint(lines.join('\n'))).toContain('expand to more than 200000 values')
  })

  test('cannot contain an alias of itself', () => {
    expect(complaint('name: a\nsteps: &all\n  - publish: { to: https://a.test, body: *all }\n')).toContain(
      'The alias "all" contains itself',
    )
  })

  test('has a size limit', () => {
    expect(complaint(`name: ${'x'.repeat(maxFile)}`)).toMatch(
      new RegExp(`^outage\\.yaml:1:1: .*at most ${maxFile} bytes.*\\b${maxFile + 6}\\b`),
    )
    // The limit is in bytes, not in characters.
    expect(complaint(`name: ${'ü'.repeat(maxFile / 2)}`)).toContain('must have at most')
  })

  test.each([
    ['lists', `name: a\nabout: ${'['.repeat(100)}${']'.repeat(100)}\n`],
    ['objects', `name: a\nabout: ${'{a: '.repeat(100)}1${'}'.repeat(100)}\n`],
    ['more than the parser can follow', '['.repeat(200_000)],
    [
      'blocks',
      `name: a\nabout:\n${Array.from({ length: 100 }, (_, level) => `${' '.repeat(level + 1)}a:`).join('\n')}\n`,
    ],
  ])('has a depth limit: %s', (_, source) => {
    expect(complaint(source)).toContain('must nest at most 64 levels')
  })
})

test('aliases are allowed', () => {
  const scenario = readScenario(
    'name: a\ndestinations:\n  - { url: &url https://a.test }\nsteps:\n  - publish: { to: *url }\n',
    'a.yaml',
  )
  expect(scenario.steps).toEqual([{ publish: { to: 'https://a.test' } }])
})

test('a time stays a string, and a quoted number stays a string', () => {
  const scenario = readScenario(
    "name: a\nstartAt: 2030-01-01\nseed: '007'\nsteps: [{ command: [SET, k, 1] }]\n",
    'a.yaml',
  )
  expect(scenario).toEqual({ name: 'a', startAt: '2030-01-01', seed: '007', steps: [{ command: ['SET', 'k', 1] }] })
})

test.each(Object.entries(scenarios))('%s can be read from JSON', (_, scenario) => {
  expect(readScenario(JSON.stringify(scenario), 'a.json')).toEqual(scenario)
})

test('docs/scenarios.md shows the actual error message', () => {
  const page = readFileSync(new URL('../../docs/scenarios.md', import.meta.url), 'utf8')
  const shown = /^outage\.yaml:14:7: (.+)$/m.exec(page)?.[1]
  expect(complaint('name: a\nsteps:\n  - publsh: {}\n')).toContain(shown)
})

test('the file in docs/scenarios.md can be read and holds', async () => {
  const page = readFileSync(new URL('../../docs/scenarios.md', import.meta.url), 'utf8')
  const [, source] = /```yaml\n([\s\S]*?)```/.exec(page)!
  const { playScenario } = await import('../../packages/explore/src/scenarios.js')
  expect((await playScenario(readScenario(source!, 'page.yaml'))).verdict()).toMatch(/\nHolds: /)
})
