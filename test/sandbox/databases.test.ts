import { describe, expect, test } from 'vitest'
import { createSandbox, Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.js'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** Sends a command to a database over REST, and returns its reply or error. */
async function ask(sandbox: Sandbox, database: string | undefined, path: string, token?: string): Promise<unknown> {
  const { urls, tokens } = sandbox
  const url = database === undefined ? urls.store : urls.databases[database]!
  const own = database === undefined ? tokens : tokens.databases[database]!
  const response = await sandbox.fetch(`${url}/${path}`, bearer(token ?? own.store))
  const { result, error } = (await response.json()) as { result?: unknown; error?: string }
  return result ?? error
}

test('each database has its own URL, tokens and keys', async () => {
  using sandbox = createSandbox({ databases: ['eu', 'us'] })
  const { tokens } = sandbox
  const all = [tokens, ...Object.values(tokens.databases)].flatMap((one) => [one.store, one.storeReadonly])
  expect(new Set(all).size).toBe(6)
  await ask(sandbox, undefined, 'set/greeting/hello')
  await ask(sandbox, 'eu', 'set/greeting/hallo')
  expect(await ask(sandbox, undefined, 'get/greeting')).toBe('hello')
  expect(await ask(sandbox, 'eu', 'get/greeting')).toBe('hallo')
  const [first, eu, us] = sandbox.stores
  expect([first, eu, us]).toEqual([sandbox.store, sandbox.storeIn('eu'), sandbox.storeIn('us')])
  expect([first!.get('greeting'), eu!.get('greeting'), us!.get('greeting')]).toEqual(['hello', 'hallo', null])
  expect(await ask(sandbox, 'eu', 'get/greeting', tokens.store)).toMatch(/unauthorized/i)
  expect(await ask(sandbox, 'eu', 'set/greeting/x', tokens.databases.eu!.storeReadonly)).toMatch(/NOPERM/)
})

test('a new password of one database does not change the tokens of the others', () => {
  using sandbox = createSandbox({ databases: ['eu', 'us'] })
  const before = sandbox.tokens
  const { standard, readOnly } = sandbox.storeIn('us').resetPassword()
  expect(sandbox.tokens).toEqual({
    ...before,
    databases: { eu: before.databases.eu, us: { store: standard, storeReadonly: readOnly } },
  })
})

test('entries of an added database carry its name, and those of the first carry none', async () => {
  using sandbox = createSandbox({ databases: ['us'] })
  sandbox.storeIn('us').run('SET', 'a', 2)
  sandbox.store.run('SET', 'a', 1)
  await ask(sandbox, 'us', 'get/a')
  await ask(sandbox, undefined, 'get/a')
  const entries = sandbox.traffic.entries.map(({ type, database }) => `${type} ${database}`)
  const written = (database: string): string[] => ['command', 'keyspace'].map((type) => `${type} ${database}`)
  const asked = (database: string): string[] => ['request', 'command'].map((type) => `${type} ${database}`)
  expect(entries.slice(0, 4).sort()).toEqual([...written('us'), ...written('undefined')].sort())
  expect(entries.slice(4)).toEqual([...asked('us'), ...asked('undefined')])
  const seen = (traffic: { readonly entries: readonly { readonly database?: string }[] }) =>
    new Set(traffic.entries.map(({ database }) => database))
  expect(seen(sandbox.store.traffic)).toEqual(new Set([undefined]))
  expect(seen(sandbox.storeIn('us').traffic)).toEqual(new Set(['us']))
})

describe('URLs of databases', () => {
  test.each<[string, SandboxOptions, string]>([
    ['default', {}, 'https://store-us.test'],
    ['with a name', { name: 'shop' }, 'https://shop.store-us.test'],
    ['below a base', { urls: { base: 'http://localhost:8080/w1' } }, 'http://localhost:8080/w1/store-us'],
    ['next to a store with a path', { urls: { store: 'https://a.test/store' } }, 'https://a.test/store-us'],
    ['below a store without a path', { urls: { store: 'http://a.test:81' } }, 'http://a.test:81/store-us'],
    ['given', { urls: { databases: { us: 'https://us.a.test/' } } }, 'https://us.a.test'],
  ])('%s', async (_, options, url) => {
    using sandbox = createSandbox({ ...options, databases: ['us'] })
    expect(sandbox.urls.databases).toEqual({ us: url })
    expect(sandbox.owns(`${url}/get/a`)).toBe(true)
    sandbox.storeIn('us').run('SET', 'a', 'here')
    expect(await ask(sandbox, 'us', 'get/a')).toBe('here')
    expect(await ask(sandbox, undefined, 'get/a')).toBeUndefined()
  })
})

describe('tokens of databases', () => {
  test('are derived from the secret and the names, unless they are given', () => {
    const options = { secret: 'a secret of the server', name: 'w1', databases: ['eu', 'us'] }
    const tokensOf = (more: SandboxOptions = {}) => {
      using sandbox = createSandbox({ ...options, ...more })
      return sandbox.tokens
    }
    const own = tokensOf()
    expect(tokensOf({ seed: 9 })).toEqual(own)
    const others = [tokensOf({ name: 'w2' }), tokensOf({ secret: 'another secret of it' })]
    const texts = [own, ...others].flatMap(({ databases }) => Object.values(databases).flatMap(Object.values))
    expect(new Set(texts).size).toBe(12)
    const given = tokensOf({ tokens: { databases: { us: { store: 'mine' } } } })
    expect(given.databases).toEqual({ ...own.databases, us: { ...own.databases.us, store: 'mine' } })
  })

  test('are redacted in traces', () => {
    using sandbox = createSandbox({ databases: ['us'], tokens: { databases: { us: { store: 'a-token-of-mine' } } } })
    const { standard } = sandbox.storeIn('us').resetPassword()
    for (const secret of ['a-token-of-mine', standard]) sandbox.storeIn('us').run('SET', 'a', secret)
    const text = JSON.stringify(sandbox.traffic)
    expect(text).not.toContain('a-token-of-mine')
    expect(text).not.toContain(standard)
  })
})

test('envFor() returns the variables of an app that uses a database', () => {
  using sandbox = createSandbox({ databases: ['us'], urls: { redis: 'redis://127.0.0.1:6379' } })
  const { env, urls, tokens } = sandbox
  const { UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN, REDIS_URL, ...others } = sandbox.envFor({ database: 'us' })
  expect([UPSTASH_REDIS_REST_URL, UPSTASH_REDIS_REST_TOKEN]).toEqual([urls.databases.us, tokens.databases.us!.store])
  const redis = new URL(REDIS_URL!)
  expect(decodeURIComponent(redis.username)).toBe('main/us/default')
  expect(decodeURIComponent(redis.password)).toBe(tokens.databases.us!.store)
  const isOfStore = (name: string) => [urls.store, tokens.store].includes(env[name]!) || name === 'REDIS_URL'
  for (const [name, value] of Object.entries(others)) if (!isOfStore(name)) expect(value).toBe(env[name])
  expect(Object.values(others)).not.toContain(urls.store)
  expect(Object.values(others)).not.toContain(tokens.store)
  expect(env.UPSTASH_REDIS_REST_URL).toBe(urls.store)
})

describe('misuse', () => {
  test.each<[string, unknown, RegExp]>([
    ['no list', 'us', /^databases must be a list of names such as \['eu', 'us'\] \(got "us"\)\.$/],
    ['an empty name', [''], /^databases: a name must have 1 to 100 .*\(got ""\)\.$/],
    ['a number', [1], /^databases: a name must have .*\(got 1\)\.$/],
    ['a slash', ['a/b'], /^databases: a name must have /],
    ['a name twice', ['us', 'US'], /^databases must have different names, regardless of case \(got "US" twice\)\.$/],
    ['too many', Array.from({ length: 17 }, (_, index) => `d${index}`), /^databases must have at most 16 names/],
    ['an invalid host name', ['us_1'], /^databases must be valid in a host name \(got "us_1"\)/],
  ])('%s throws a TypeError', (_, databases, message) => {
    const create = () => createSandbox({ databases: databases as string[] })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(message)
  })

  test('a name that is not valid in a host name is accepted with a base URL', () => {
    using sandbox = createSandbox({ databases: ['us_1'], urls: { base: 'https://a.test' } })
    expect(sandbox.urls.databases).toEqual({ us_1: 'https://a.test/store-us_1' })
  })

  test('an unknown database throws a RangeError with the nearest name', () => {
    using sandbox = createSandbox({ databases: ['europe', 'us'] })
    const sentence = 'There is no database "eurpe". Did you mean "europe"? The added databases are europe, us.'
    expect(() => sandbox.storeIn('eurpe')).toThrow(new RangeError(sentence))
    expect(() => sandbox.envFor({ database: 'eurpe' })).toThrow(new RangeError(sentence))
    expect(() => sandbox.envFor({} as never)).toThrow(/^There is no database undefined\./)
    expect(() => sandbox.asOf('-0s').storeIn('eurpe')).toThrow(new RangeError(sentence))
    expect(() => sandbox.stats.storeIn('eurpe')).toThrow(new RangeError(sentence))
    expect(() => sandbox.storeIn('toString')).toThrow(RangeError)
  })

  test('a sandbox without databases says which option adds them', () => {
    using sandbox = createSandbox()
    expect(() => sandbox.storeIn('us')).toThrow(
      `There is no database "us". Pass the option databases: ['us'] to createSandbox() to add databases.`,
    )
  })

  test.each<[string, SandboxOptions, RegExp]>([
    [
      'a URL',
      { urls: { databases: { uss: 'https://a.test' } } },
      /^urls.databases has no option "uss". Did you mean "us"/,
    ],
    ['tokens', { tokens: { databases: { uss: {} } } }, /^tokens.databases has no option "uss". Did you mean "us"/],
    ['a token', { tokens: { databases: { us: { stor: 'a' } as never } } }, /^tokens.databases.us has no option "stor"/],
    ['an empty token', { tokens: { databases: { us: { store: '' } } } }, /^tokens.databases.us.store must be a string/],
    ['the URL of the store', { urls: { databases: { us: 'https://store.test' } } }, /^urls.databases.us must differ/],
  ])('%s of an unknown database throws a TypeError', (_, options, message) => {
    expect(() => createSandbox({ ...options, databases: ['us'] })).toThrow(message)
  })
})

describe('dumps', () => {
  test.each<[string, readonly string[] | undefined, readonly string[] | undefined, string]>([
    [
      'other databases',
      ['eu'],
      ['us'],
      'other added databases (eu) than this sandbox (us). Create the sandbox with databases: ["eu"].',
    ],
    ['no databases', undefined, ['us'], 'other added databases (none) than this sandbox (us).'],
    ['databases', ['eu'], undefined, 'other added databases (eu) than this sandbox (none).'],
  ])('with %s than those of the sandbox are rejected, and nothing changes', (_, from, to, sentence) => {
    using origin = createSandbox({ databases: from })
    using sandbox = createSandbox({ databases: to })
    sandbox.store.run('SET', 'a', 1)
    const before = sandbox.dump()
    expect(() => sandbox.load(origin.dump())).toThrow(sentence)
    expect(sandbox.dump()).toEqual(before)
  })

  test('with databases have version 3, and without them no field databases', () => {
    using sandbox = createSandbox({ databases: ['us'] })
    using lone = createSandbox()
    expect(sandbox.dump().version).toBe(3)
    expect(lone.dump()).not.toHaveProperty('databases')
    const { databases: _, ...cut } = sandbox.dump()
    expect(() => sandbox.load(cut)).toThrow(/version must be 3 if the dump has added databases/)
  })

  test('of another secret do not bring their tokens and passwords', async () => {
    using origin = createSandbox({ databases: ['us'] })
    using sandbox = createSandbox({ databases: ['us'], secret: 'a secret of the server' })
    const user = origin.storeIn('us')
    user.run('ACL', 'SETUSER', 'ann', 'on', '~*', '+@all')
    const token = String(user.run('ACL', 'GENTOKEN', 'ann'))
    user.run('ACL', 'SETUSER', 'ann', `>${token}`)
    user.run('SET', 'a', 'kept')
    expect(await ask(origin, 'us', 'get/a', token)).toBe('kept')
    const own = sandbox.tokens
    sandbox.load(origin.dump())
    expect(sandbox.tokens).toEqual(own)
    expect(await ask(sandbox, 'us', 'get/a')).toBe('kept')
    for (const foreign of [token, origin.tokens.databases.us!.store, own.store])
      expect(await ask(sandbox, 'us', 'get/a', foreign)).toMatch(/unauthorized/i)
  })

  test('are moved with rebaseTime', () => {
    using origin = createSandbox({ databases: ['us'], startAt: '2031-01-01T00:00:00Z' })
    origin.storeIn('us').run('SET', 'a', 1, 'EX', 60)
    using sandbox = createSandbox({ databases: ['us'] })
    sandbox.load(origin.dump(), { rebaseTime: true })
    expect(sandbox.storeIn('us').run('TTL', 'a')).toBe(60)
  })
})

test('databases are rejected with a real Redis', () => {
  const elsewhere = () => {
    throw new Error('must not be called')
  }
  const create = () => new Sandbox({ databases: ['us'] }, undefined, elsewhere)
  expect(create).toThrow(/^databases must be omitted with a real Redis, which has one database\./)
})

test('the queue delivers to a database', async () => {
  using sandbox = createSandbox({ databases: ['us'] })
  const { urls, tokens, queue, clock } = sandbox
  const headers = { authorization: `Bearer ${tokens.databases.us!.store}` }
  queue.publish({ to: `${urls.databases.us}/set/a/1`, headers })
  await clock.drain()
  expect(sandbox.storeIn('us').get('a')).toBe('1')
})
