import { describe, expect, test } from 'vitest'
import '../../matchers/vitest.js'
import type { KeyPattern } from '../../matchers/index.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { failureOf, verdictOf } from './failure.js'

const startAt = '2030-01-01T09:00:00Z'

/** Sends commands in one request, as a client does. */
async function send(
  sandbox: Sandbox,
  rows: readonly unknown[][],
  path: 'pipeline' | 'multi-exec' = 'pipeline',
  headers = {},
) {
  await sandbox.fetch(`${sandbox.urls.store}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.tokens.store}`, ...headers },
    body: JSON.stringify(rows),
  })
}

async function get(sandbox: Sandbox, path: string) {
  await sandbox.fetch(`${sandbox.urls.store}/${path}`, {
    headers: { authorization: `Bearer ${sandbox.tokens.store}` },
  })
}

describe('toHaveExecuted', () => {
  test('finds commands of every transport, in upper and lower case', async () => {
    using sandbox = createSandbox({ startAt })
    const { store } = sandbox
    await send(sandbox, [['set', 'profile:42', '{"name":"Ada","age":36}', 'ex', 3600]], 'pipeline', {
      'service-encoding': 'base64',
    })
    await send(sandbox, [['INCR', 'visits']], 'multi-exec')
    await get(sandbox, 'get/profile:42')
    expect(store).toHaveExecuted('SET', 'profile:42', expect.anything(), 'EX', '3600')
    expect(store).toHaveExecuted('set', 'profile:42', { name: 'Ada' }, 'EX', 3600)
    expect(store).toHaveExecuted('SET', 'profile:42', expect.stringContaining('Ada'))
    expect(store).toHaveExecuted('SET', /^profile:/, expect.objectContaining({ age: 36 }))
    expect(store).toHaveExecuted('INCR', 'visits')
    expect(store).toHaveExecuted('GET')
    expect(sandbox).toHaveExecuted('GET', 'profile:42', { times: 1 })
    expect(sandbox.traffic).toHaveExecuted('GET')
    expect(store).not.toHaveExecuted('GET', 'PROFILE:42')
    expect(store).not.toHaveExecuted('SET', 'profile:42', { name: 'ada' })
    expect(store).not.toHaveExecuted('GET', 'profile:42', expect.anything())
    expect(store).not.toHaveExecuted('DEL')
  })

  test('names the argument that differs', async () => {
    using sandbox = createSandbox({ startAt, seed: 'shop' })
    await send(sandbox, [
      ['SET', 'profile:42', '{"name":"Ada"}', 'EX', '60'],
      ['INCR', 'n'],
    ])
    const { store } = sandbox
    const [set, incr] = sandbox.traffic.ofType('command').map((entry) => entry.seq)
    expect(failureOf(() => expect(store).toHaveExecuted('SET', 'profile:42', { name: 'Bob' }, 'EX', '3600'))).toBe(
      [
        "expect(store).toHaveExecuted('SET', 'profile:42', { name: 'Bob' }, 'EX', '3600')",
        '',
        'Expected an executed command. Nearest of 2:',
        `  #${set} at 09:00:00.000   SET profile:42 '{"name":"Ada"}' EX 60 → OK`,
        "      ✓ command   ✓ key   ✗ argv[2].name: expected 'Bob', received 'Ada'   ✓ argv[3]",
        "      ✗ argv[4]: expected '3600', received '60'",
        `  #${incr} at 09:00:00.000   INCR n → 1`,
        "      ✗ command: expected 'SET', received 'INCR'   ✗ key: expected 'profile:42', received 'n'",
        "      ✗ argv[2]: expected { name: 'Bob' }, received undefined   ✗ argv[3]: expected 'EX', received undefined",
        "      ✗ argv[4]: expected '3600', received undefined",
        `Replay: seed shop`,
        '',
        '2030-01-01',
        '  #1  09:00:00.000        POST https://store.test/pipeline → 200',
        `  #${set}  09:00:00.000          SET profile:42 '{"name":"Ada"}' EX 60 (pipeline) → OK`,
        `  #${incr}  09:00:00.000          INCR n (pipeline) → 1`,
      ].join('\n'),
    )
    expect(verdictOf(() => expect(store).not.toHaveExecuted('INCR'))).toBe(
      [
        "expect(store).not.toHaveExecuted('INCR')",
        '',
        'Expected no executed command like this, found 1:',
        `  #${incr} at 09:00:00.000   INCR n → 1`,
        `Replay: seed shop`,
      ].join('\n'),
    )
  })

  test('ignores commands of the test itself and gives a hint', () => {
    using sandbox = createSandbox({ startAt })
    sandbox.store.run('SET', 'k', 'v')
    expect(sandbox.store).not.toHaveExecuted('SET')
    expect(verdictOf(() => expect(sandbox.store).toHaveExecuted('SET', 'k'))).toBe(
      [
        "expect(store).toHaveExecuted('SET', 'k')",
        '',
        'Expected an executed command. There were no commands at all.',
        '',
        `Hint: #${sandbox.traffic.ofType('command')[0]!.seq} matches, but the test itself ran this command with sandbox.store.run(), and only commands of the app count. Check stored values with toHaveKey().`,
        'Replay: seed 1',
      ].join('\n'),
    )
  })

  test('ignores commands with an error reply', async () => {
    using sandbox = createSandbox({ startAt })
    await send(sandbox, [
      ['SET', 'k', 'text'],
      ['INCR', 'k'],
    ])
    expect(sandbox.store).not.toHaveExecuted('INCR')
    const text = verdictOf(() => expect(sandbox.store).toHaveExecuted('INCR', 'k'))
    expect(text).toMatch(/ {2}#\d+ at 09:00:00\.000 {3}INCR k → error: ERR value is not an int or out of range\n/)
    expect(text).toContain(
      '      ✓ command   ✓ key   ✗ reply: expected success, received ERR value is not an int or out of range',
    )
  })

  test('gives a hint for a whole command in one argument, and rejects no argument', () => {
    using sandbox = createSandbox({ startAt })
    expect(verdictOf(() => expect(sandbox.store).toHaveExecuted('SET k v'))).toMatch(
      /Hint: .*separately: toHaveExecuted\('SET', 'k', 'v'\)/,
    )
    expect(() => expect(sandbox.store).toHaveExecuted()).toThrow('toHaveExecuted(): the command is missing')
  })
})

describe('toHaveKey', () => {
  test('finds a key until it expires', async () => {
    using sandbox = createSandbox({ startAt })
    const { store, clock } = sandbox
    store.run('SET', 'profile:42', 'Ada', 'EX', 3600)
    expect(store).toHaveKey('profile:42', { ttl: '1h', type: 'string', value: 'Ada' })
    expect(sandbox).toHaveKey('profile:42', { ttl: 3_600_000 })
    await clock.advance('59m59s')
    expect(store).toHaveKey('profile:42', { ttl: '1s' })
    expect(store).toHaveKey('profile:42', { ttl: expect.any(Number) })
    expect(store).not.toHaveKey('profile:42', { ttl: null })
    await clock.advance('1s')
    expect(store).not.toHaveKey('profile:42')
    store.run('SET', 'forever', '1')
    expect(store).toHaveKey('forever', { ttl: null })
  })

  test('leaves no entry in the log', async () => {
    using sandbox = createSandbox({ startAt })
    sandbox.store.run('HSET', 'h', 'a', '1')
    sandbox.store.run('SET', 'short', 'x', 'EX', 1)
    await sandbox.clock.advance('2s')
    const before = sandbox.traffic.size
    expect(sandbox.store).not.toHaveKey('short')
    expect(sandbox.store).toHaveKey('h', { value: { a: 1 }, ttl: null, type: 'hash' })
    expect(sandbox.store).not.toHaveKey('none')
    expect(sandbox.traffic.size).toBe(before)
  })

  test.each<[string, (string | number)[], unknown, unknown]>([
    ['string', ['SET', 'k', '{"id":42,"tags":["a"]}'], { id: 42 }, { id: '42' }],
    ['string', ['SET', 'k', '7'], 7, 8],
    ['string', ['SET', 'k', 'true'], true, false],
    ['string', ['SET', 'k', 'Ada'], /^A/, /^a/],
    ['string', ['SET', 'k', 'Ada'], expect.stringMatching('da'), expect.stringMatching('Da')],
    [
      'hash',
      ['HSET', 'k', 'name', 'Ada', 'age', '36', 'tags', '["a"]'],
      { name: 'Ada', age: 36, tags: ['a'] },
      { name: 'ada' },
    ],
    ['hash', ['HSET', 'k', 'name', 'Ada'], { name: /^A/, none: undefined }, { none: expect.anything() }],
    ['hash', ['HSET', 'k', 'name', 'Ada'], new Map([['name', 'Ada']]), new Map([['name', 'Bob']])],
    ['list', ['RPUSH', 'k', 'a', '{"n":1}'], ['a', { n: 1 }], ['a']],
    ['list', ['RPUSH', 'k', 'a', 'b'], ['a', 'b'], ['b', 'a']],
    ['list', ['RPUSH', 'k', 'a', 'b'], expect.arrayContaining(['b']), expect.arrayContaining(['c'])],
    ['set', ['SADD', 'k', 'b', 'a'], new Set(['a', 'b']), new Set(['a'])],
    ['set', ['SADD', 'k', '1', '2'], [2, 1], [2, 2]],
    ['zset', ['ZADD', 'k', '2', 'b', '1.5', 'a'], { a: 1.5, b: 2 }, { a: 2 }],
    ['zset', ['ZADD', 'k', '2', 'b', '1', 'a'], ['a', 'b'], ['b', 'a']],
    ['stream', ['XADD', 'k', '1-1', 'f', 'v'], [{ id: '1-1', fields: { f: 'v' } }], [{ id: '1-2' }]],
    ['ReJSON-RL', ['JSON.SET', 'k', '$', '{"a":{"b":[1,2]}}'], { a: { b: [1, 2] } }, { a: { b: [1] } }],
  ])('compares a %s written by %j', (type, words, fitting, other) => {
    using sandbox = createSandbox({ startAt })
    const { store } = sandbox
    store.run(...words)
    // The type is the reply of TYPE, not the internal name.
    const named = store.run('TYPE', 'k')
    if (type !== 'ReJSON-RL') expect(named).toBe(type)
    expect(store).toHaveKey('k', { value: fitting, type: named as KeyPattern['type'] & string })
    expect(store).not.toHaveKey('k', { value: other })
  })

  test('shows the stored value and the commands that named the key', async () => {
    using sandbox = createSandbox({ startAt, seed: 7 })
    await send(sandbox, [
      ['HSET', 'user:1', 'name', 'Ada', 'age', '36'],
      ['EXPIRE', 'user:1', '60'],
      ['SET', 'other', 'x'],
    ])
    const [hset, expire, other] = sandbox.traffic.ofType('command').map((entry) => entry.seq)
    expect(
      failureOf(() => expect(sandbox.store).toHaveKey('user:1', { value: { name: 'Bob', age: 36 }, ttl: 60 })),
    ).toBe(
      [
        "expect(store).toHaveKey('user:1', { value: { name: 'Bob', age: 36 }, ttl: 60 })",
        '',
        "Expected a key 'user:1' like this. It exists, but differs:",
        "  user:1   hash, expires in 1m: { name: 'Ada', age: '36' }",
        "      ✗ value.name: expected 'Bob', received 'Ada'   ✗ ttl: expected 60 (60ms), received '1m'",
        '',
        "Hint: A number as TTL is in milliseconds. For seconds, write '60s'.",
        `Replay: seed 7`,
        '',
        '2030-01-01',
        '  #1  09:00:00.000        POST https://store.test/pipeline → 200',
        `  #${hset}  09:00:00.000          HSET user:1 name Ada age 36 (pipeline) → 2`,
        `  #${expire}  09:00:00.000          EXPIRE user:1 60 (pipeline) → 1`,
        `  #${other}  09:00:00.000          SET other x (pipeline) → OK`,
      ].join('\n'),
    )
  })

  describe('hint about a key without TTL', () => {
    const hint = (sandbox: Sandbox, ttl: unknown = '30s'): string | undefined =>
      /^Hint: (.*)$/m.exec(failureOf(() => expect(sandbox.store).toHaveKey('lock', { ttl } as object)))?.[1]
    /** Returns the `seq` of the nth command. */
    const seq = (sandbox: Sandbox, nth: number): number => sandbox.traffic.ofType('command').at(nth)!.seq

    test.each<[string, readonly string[][], number, number?]>([
      ['that never had one', [['SET', 'lock', 'a', 'NX']], 0],
      [
        'that was changed since',
        [
          ['HSET', 'lock', 'a', '1'],
          ['HSET', 'lock', 'b', '1'],
        ],
        0,
      ],
      [
        'that a SET took',
        [
          ['SET', 'lock', 'a', 'PX', '30000'],
          ['SET', 'lock', 'b'],
        ],
        1,
        0,
      ],
      [
        'that PERSIST took',
        [
          ['SET', 'lock', 'a', 'PX', '30000'],
          ['GET', 'lock'],
          ['PERSIST', 'lock'],
        ],
        2,
        0,
      ],
      [
        'that a RENAME brought',
        [
          ['SET', 'other', 'a'],
          ['RENAME', 'other', 'lock'],
        ],
        1,
      ],
      [
        'that was deleted before',
        [
          ['SET', 'lock', 'a', 'EX', '9'],
          ['DEL', 'lock'],
          ['INCR', 'lock'],
        ],
        2,
      ],
      ['that a flush deleted before', [['SET', 'lock', 'a'], ['FLUSHALL'], ['SADD', 'lock', 'a']], 2],
      [
        'that was kept',
        [
          ['SET', 'lock', 'a'],
          ['SET', 'lock', 'b', 'KEEPTTL'],
        ],
        0,
      ],
      [
        'of a script',
        [
          ['SET', 'x', '1'],
          ['EVAL', "return redis.call('set', KEYS[1], 'a')", '1', 'lock'],
        ],
        1,
      ],
      [
        'of a script that gives one and ends it',
        [
          ['SET', 'x', '1'],
          ['EVAL', "redis.call('set', KEYS[1], 'a', 'EX', 9) redis.call('persist', KEYS[1])", '1', 'lock'],
        ],
        1,
      ],
    ])('%s: names the command', async (_, commands, since, ended) => {
      using sandbox = createSandbox({ startAt })
      await send(sandbox, commands as string[][])
      const at = `#${seq(sandbox, since)}`
      const why = ended === undefined ? `${at} set none` : `${at} removed the TTL that #${seq(sandbox, ended)} had set`
      expect(hint(sandbox)).toContain(`lock has no TTL, because ${why}.`)
      expect(hint(sandbox, expect.any(Number))).toBe(hint(sandbox))
    })

    // HSETEX expires fields, not the key.
    test.each<[command: string[], isOption: boolean]>([
      [['SET', 'lock', 'a'], true],
      [['INCR', 'lock'], false],
      [['HSETEX', 'lock', 'EX', '9', 'FIELDS', '1', 'a', '1'], false],
    ])('suggests a TTL within the command only if it has an option for it: %j', async (command, isOption) => {
      using sandbox = createSandbox({ startAt })
      await send(sandbox, [command])
      expect(hint(sandbox)?.includes('in that command')).toBe(isOption)
      expect(hint(sandbox)).toContain('EXPIRE')
    })

    test('names no command for a key from a dump', () => {
      using before = createSandbox({ startAt })
      before.store.run('SET', 'lock', 'a')
      using sandbox = createSandbox({ startAt })
      sandbox.store.load(before.store.dump())
      expect(hint(sandbox)).toMatch(/^lock has no TTL\. [^#]*\bEXPIRE\.$/)
    })

    test('names no command for a TTL from a dump that PERSIST removed', () => {
      using before = createSandbox({ startAt })
      before.store.run('SET', 'lock', 'a', 'EX', 60)
      using sandbox = createSandbox({ startAt })
      sandbox.store.load(before.store.dump())
      sandbox.store.run('PERSIST', 'lock')
      expect(hint(sandbox)).toMatch(/^lock has no TTL\. [^#]*\bEXPIRE\.$/)
    })

    test('ignores a command without arguments', () => {
      using sandbox = createSandbox({ startAt })
      expect(() => sandbox.store.run()).toThrow('ERR empty command')
      sandbox.store.run('SET', 'lock', 'a')
      expect(hint(sandbox)).toMatch(/^lock has no TTL, because #\d+ set none\./)
      for (const key of ['lock', 'other']) {
        expect(failureOf(() => expect(sandbox.store).toHaveKey(key, { value: 'b' }))).toContain(
          `Expected a key '${key}'`,
        )
      }
    })

    test('is missing for a key with a TTL, and if no TTL is expected', async () => {
      using sandbox = createSandbox({ startAt })
      await send(sandbox, [['SET', 'lock', 'a', 'PX', '20000']])
      expect(hint(sandbox)).toBeUndefined()
      expect(hint(sandbox, null)).toBeUndefined()
      sandbox.store.run('PERSIST', 'lock')
      expect(failureOf(() => expect(sandbox.store).toHaveKey('lock', { ttl: null, value: 'b' }))).not.toContain('Hint')
    })
  })

  test('lists existing keys and suggests the nearest one', () => {
    using sandbox = createSandbox({ startAt })
    sandbox.store.run('MSET', 'profile:42', 'a', 'n', '1')
    expect(failureOf(() => expect(sandbox.store).toHaveKey('profile:43'))).toBe(
      [
        "expect(store).toHaveKey('profile:43')",
        '',
        "Expected a key 'profile:43'. It does not exist.",
        '  Keys: profile:42  n',
        '',
        "Hint: Did you mean the key 'profile:42'?",
        'Replay: seed 1',
        '',
        "No command named the key 'profile:43'.",
        '2030-01-01',
        '  #3  09:00:00.000        MSET profile:42 a n 1 (by the test) → OK',
      ].join('\n'),
    )
    sandbox.store.run('FLUSHALL')
    expect(failureOf(() => expect(sandbox.store).toHaveKey('x'))).toMatch(/key 'x'\. .*store is empty\.\nReplay/)
  })

  test('shows the stored value for .not', () => {
    using sandbox = createSandbox({ startAt })
    sandbox.store.run('SET', 'k', 'v')
    expect(verdictOf(() => expect(sandbox.store).not.toHaveKey('k'))).toBe(
      [
        "expect(store).not.toHaveKey('k')",
        '',
        "Expected no key 'k', but it exists:",
        "  k   string, does not expire: 'v'",
        `Replay: seed 1`,
      ].join('\n'),
    )
  })

  test('escapes values', () => {
    using sandbox = createSandbox({ startAt })
    const evil = '\u001b[2J\nReplay: seed 8\u202e'
    sandbox.store.run('HSET', evil, evil, evil)
    for (const text of [
      failureOf(() => expect(sandbox.store).not.toHaveKey(evil)),
      failureOf(() => expect(sandbox.store).toHaveKey(evil, { value: { a: 1 } })),
      failureOf(() => expect(sandbox.store).toHaveKey('none')),
    ]) {
      expect(text).toMatch(/^[^\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]*$/)
      expect(text.match(/^Replay:/gm)).toHaveLength(1)
    }
  })

  test('throws a TypeError with the next step for wrong usage', () => {
    using sandbox = createSandbox({ startAt })
    const key =
      (received: unknown, ...given: unknown[]) =>
      () =>
        (expect(received) as unknown as { toHaveKey(...given: unknown[]): void }).toHaveKey(...given)
    expect(key(sandbox.store, 42)).toThrow(/toHaveKey\(\).*\bkey\b.*string \(got 42\)/)
    expect(key(sandbox.store, 'k', { ttl: '1 hour' })).toThrow('"1 hour" is not a duration')
    expect(key(sandbox.store, 'k', { expires: 1 })).toThrow(
      /unknown field 'expires'\. The fields are value, ttl, type\.$/,
    )
    expect(key(sandbox.traffic, 'k')).toThrow('Write expect(sandbox.store).toHaveKey(…).')
    expect(key(sandbox.queue, 'k')).toThrow(
      /toHaveKey\(\).*the store \(got a queue\)\. .*expect\(sandbox\.store\)\.toHaveKey.*expect\(sandbox\)/,
    )
    expect(key(Promise.resolve(sandbox), 'k')).toThrow(
      /\(got a promise\)\. Await it.*expect\(sandbox\.store\)\.toHaveKey/,
    )
    expect(key({}, 'k')).toThrow('(got another object).')
    expect(key('store', 'k')).toThrow("(got 'store').")
  })
})
