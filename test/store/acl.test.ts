import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Bytes, latin1 } from '../../src/kernel/bytes.js'
import { createRandom } from '../../src/kernel/random.js'
import { defaultPolicy, type ResolvedPolicy } from '../../src/policy/policy.js'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { AccessControl } from '../../src/store/access/access-control.js'
import { categoriesOf, clientSubcommands, connectionBound } from '../../src/store/access/categories.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { blockingTable, commandTable } from '../../src/store/commands/index.js'
import { sessionCommands } from '../../src/store/resp/session-commands.js'
import { StoreEngine } from '../../src/store/store-engine.js'

interface Recorded {
  readonly commands: Readonly<Record<string, { categories: string[]; keys: string[] }>>
  readonly verdicts: readonly [rules: string, command: string, verdict: string][]
  readonly selectors: readonly [rules: string, command: string, verdict: string][]
}

const recorded = JSON.parse(
  readFileSync(new URL('../transcripts/permissions.json', import.meta.url), 'utf8'),
) as Recorded

function createStore(policy: Partial<ResolvedPolicy> = {}): StoreEngine {
  return new StoreEngine({
    clock: { now: () => 0 },
    random: createRandom('acl test'),
    access: new AccessControl({ standard: 'standard', readOnly: 'read-only' }, createRandom('acl test')),
    policy: { ...defaultPolicy, ...policy },
    docs: 'docs.test',
  })
}

const shared = [...commandTable.commands, ...blockingTable.commands, ...connectionBound.values()]
  .map((command) => ({ command, redis: recorded.commands[command.name.toLowerCase().replace(' ', '|')] }))
  .filter(({ redis }) => redis !== undefined)

/** Commands whose keys are not simply their first arguments. */
const wordsNaming: Readonly<Record<string, string>> = {
  BITFIELD: 'BITFIELD k SET u8 0 1',
  SET: 'SET k v GET',
  GEORADIUS: 'GEORADIUS k 1 1 1 km STORE d STOREDIST e',
  GEORADIUSBYMEMBER: 'GEORADIUSBYMEMBER k m 1 km STORE d STOREDIST e',
  SORT: 'SORT k STORE d',
  BLMPOP: 'BLMPOP 0 2 k k LEFT',
  BLMOVE: 'BLMOVE k d LEFT LEFT 0',
  BRPOPLPUSH: 'BRPOPLPUSH k d 0',
  BZMPOP: 'BZMPOP 0 2 k k MIN',
  XREAD: 'XREAD STREAMS k 0-0',
  XREADGROUP: 'XREADGROUP GROUP g c STREAMS k >',
  ...Object.fromEntries(
    'EVAL EVALSHA EVAL_RO EVALSHA_RO FCALL FCALL_RO'.split(' ').map((name) => [name, `${name} script 2 k k`]),
  ),
  ...Object.fromEntries(
    'LMPOP ZMPOP ZINTER ZUNION ZDIFF ZINTERCARD SINTERCARD'.split(' ').map((name) => [name, `${name} 2 k k`]),
  ),
  ...Object.fromEntries(['ZINTERSTORE', 'ZUNIONSTORE', 'ZDIFFSTORE'].map((name) => [name, `${name} d 2 k k`])),
}

describe('command table compared with redis-server 7.0', () => {
  it('compares more than two hundred commands', () => expect(shared.length).toBeGreaterThan(180))

  it('has the same categories', () => {
    const differing = shared.flatMap(({ command, redis }) => {
      const ours = [...categoriesOf(command)].sort().join(' ')
      const theirs = redis!.categories.join(' ')
      return ours === theirs ? [] : [`${command.name}: ${ours} instead of ${theirs}`]
    })
    // The read-only token has no SCAN [store.md 6.2]. CLIENT has no subcommands in this table, but in that category of
    // redis-server.
    expect(differing).toEqual([
      'SCAN: dangerous keyspace read slow instead of keyspace read slow',
      'CLIENT: connection slow instead of slow',
    ])
  })

  it('has the same use of keys', () => {
    const inTurn = (uses: readonly string[]): string => uses.filter((use, at) => use !== uses[at - 1]).join(' ')
    const differing = [...commandTable.commands, ...blockingTable.commands].flatMap((command) => {
      const redis = recorded.commands[command.name.toLowerCase().replace(' ', '|')]
      if (redis === undefined || redis.keys.length === 0) return []
      const argv = (wordsNaming[command.name] ?? `${command.name} k k k k k k`).split(' ') as Bytes[]
      const ours = inTurn(command.namesIn(argv).keys.map(({ use }) => use))
      return ours === inTurn(redis.keys) ? [] : [`${command.name}: ${ours} instead of ${inTurn(redis.keys)}`]
    })
    expect(differing).toEqual([])
  })

  it('allows and denies the same for 600 users and commands', () => {
    const store = createStore()
    const kind = (text: string): string => /run|key|channel/.exec(text)?.[0] ?? text
    const differing = recorded.verdicts.flatMap(([rules, command, verdict], index) => {
      const name = latin1(`user${index}`)
      const rights = { dialect: 'service', hasCommand: (target: string) => store.commands.has(target) } as const
      store.access.setUser(name, [...(rules.split(' ') as Bytes[]), latin1('on')], rights)
      const user = userNamed(store, name)
      let ours = 'OK'
      try {
        store.check(command.split(' ') as Bytes[], user)
      } catch (error) {
        ours = (error as ReplyError).message
      }
      return kind(ours) === kind(verdict) ? [] : [`${rules}: ${command}: ${ours} instead of ${verdict}`]
    })
    expect(differing).toEqual([])
  })
})

describe("policy.aclRules: 'redis'", () => {
  const redisRules = { aclRules: 'redis' } as const

  it('decides the same, with the same error texts, for 300 users with selectors and rules for subcommands', () => {
    const store = createStore(redisRules)
    const differing = recorded.selectors.flatMap(([rules, command, verdict]) => {
      const words = rules.split(' ')
      store.run('ACL', 'SETUSER', 'someone', 'reset', ...words)
      const ours = store.run('ACL', 'DRYRUN', 'someone', ...command.split(' '))
      const text = typeof ours === 'string' ? ours : 'OK'
      return text === verdict ? [] : [`${rules}: ${command}: ${text} instead of ${verdict}`]
    })
    expect(recorded.selectors.filter(([rules]) => rules.includes('('))).not.toEqual([])
    expect(differing).toEqual([])
  })

  // [redis 7.0: the errors and the lines of ACL LIST were recorded there]
  it.each([
    [['(', '+get'], "ERR Unmatched parenthesis in acl selector starting at '('."],
    [['(on)'], "ERR Error in ACL SETUSER modifier '(on)': Syntax error"],
    [['(>x)'], "ERR Error in ACL SETUSER modifier '(>x)': Syntax error"],
    [['foo)'], "ERR Error in ACL SETUSER modifier 'foo)': Syntax error"],
    [
      ['+config|get|x'],
      "ERR Error in ACL SETUSER modifier '+config|get|x': Allowing first-arg of a subcommand is not supported",
    ],
    [['+config|'], "ERR Error in ACL SETUSER modifier '+config|': Syntax error"],
    [['-config|nosuch'], "ERR Error in ACL SETUSER modifier '-config|nosuch': Unknown command or category name in ACL"],
    [
      ['#abc'],
      "ERR Error in ACL SETUSER modifier '#abc': The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters",
    ],
    [
      ['<none'],
      "ERR Error in ACL SETUSER modifier '<none': The password you are trying to remove from the user does not exist",
    ],
  ])('rejects %j', (rules, text) => {
    const store = createStore(redisRules)
    expect(() => store.run('ACL', 'SETUSER', 'ann', '+get', ...rules)).toThrow(text)
    expect(store.run('ACL', 'USERS')).toEqual(['default', 'default_ro'])
  })

  it('lists users with their rules', () => {
    const store = createStore(redisRules)
    const pw = createHash('sha256').update('pw').digest('hex')
    store.run('ACL', 'SETUSER', 'ann', 'on', 'nopass', '~a*', '+get', '(%R~b*', '&ch', '+set', '+config|get)', '()')
    expect(listed(store).at(-1)).toBe(
      'user ann on nopass ~a* resetchannels -@all +get (%R~b* resetchannels &ch -@all +set +config|get) (resetchannels -@all)',
    )
    expect(store.run('ACL', 'GETUSER', 'ann')).toEqual([
      ...['flags', ['on', 'nopass'], 'passwords', [], 'commands', '-@all +get', 'keys', ['a*'], 'channels', []],
      'selectors',
      [
        ['commands', '-@all +set +config|get', 'keys', ['%R~b*'], 'channels', ['ch']],
        ['commands', '-@all', 'keys', [], 'channels', []],
      ],
    ])
    store.run('ACL', 'SETUSER', 'ann', '>pw', `#${pw}`, 'clearselectors', '+config')
    expect(listed(store).at(-1)).toBe(`user ann on #${pw} ~a* resetchannels -@all +get +config`)
    store.run('ACL', 'SETUSER', 'ann', '+config|set', '+config|get', '-config')
    expect(listed(store).at(-1)).toBe(`user ann on #${pw} ~a* resetchannels -@all +get -config`)
    store.run('ACL', 'SETUSER', 'ann', '<pw')
    expect(listed(store).at(-1)).toBe('user ann on ~a* resetchannels -@all +get -config')
  })

  it('accepts rules for each subcommand of CLIENT that connections have', () => {
    const names = [...sessionCommands.keys()].filter((name) => name.startsWith('CLIENT '))
    expect(names.map((name) => name.slice('CLIENT '.length)).sort()).toEqual([...clientSubcommands].sort())
    const store = createStore(redisRules)
    store.run('ACL', 'SETUSER', 'ann', '+@all', '-client|kill')
    expect(() => store.run('ACL', 'SETUSER', 'ann', '-client|nosuch')).toThrow('Unknown command or category')
  })

  it.each(['service', 'redis'] as const)('rejects changes of the user default: %s', (aclRules) => {
    const store = createStore({ aclRules })
    for (const rule of ['nopass', '>pw', 'off', '-@all']) {
      expect(() => store.run('ACL', 'SETUSER', 'default', rule)).toThrow("The 'default' user cannot be changed")
    }
  })

  it('accepts a result of GENPASS as a password', () => {
    const store = createStore(redisRules)
    const password = String(store.run('ACL', 'GENPASS'))
    store.run('ACL', 'SETUSER', 'ann', 'on', `>${password}`)
    expect(store.access.userWith('ann', password)?.name).toBe('ann')
  })

  it('signs in with a password, returns a REST token for it, and revokes both with the rule', () => {
    const store = createStore(redisRules)
    store.run('ACL', 'SETUSER', 'ann', 'on', '>secret', '+get', '~*')
    const token = String(store.run('ACL', 'RESTTOKEN', 'ann', 'secret'))
    expect(store.access.userWith('ann', 'secret')?.name).toBe('ann')
    expect(store.access.userOf(token)?.name).toBe('ann')
    // A token must not be a password that other users could also have.
    expect(store.access.userOf('secret')).toBeUndefined()
    expect(store.access.userWith('ann', 'wrong')).toBeUndefined()
    expect(() => store.run('ACL', 'RESTTOKEN', 'ann', 'wrong')).toThrow(/^ERR Wrong password/)
    store.run('ACL', 'SETUSER', 'ann', 'off')
    expect(store.access.userWith('ann', 'secret')).toBeUndefined()
    expect(store.access.userOf(token)).toBeUndefined()
    store.run('ACL', 'SETUSER', 'ann', 'on', '<secret')
    expect(store.access.userWith('ann', 'secret')).toBeUndefined()
    expect(store.access.userOf(token)).toBeUndefined()
  })

  it('accepts any password with nopass, until a password is set', () => {
    const store = createStore(redisRules)
    store.run('ACL', 'SETUSER', 'ann', 'on', '>old', 'nopass')
    const token = String(store.run('ACL', 'RESTTOKEN', 'ann', 'anything'))
    expect([store.access.userWith('ann', 'x')?.name, store.access.userOf(token)?.name]).toEqual(['ann', 'ann'])
    store.run('ACL', 'SETUSER', 'ann', '>new')
    expect([store.access.userWith('ann', 'x'), store.access.userOf(token)]).toEqual([undefined, undefined])
    expect(store.access.userWith('ann', 'old')).toBeUndefined()
    expect(store.access.userWith('ann', 'new')?.name).toBe('ann')
  })

  it('hides passwords in traffic, errors and dumps; a loaded dump accepts them, even under the rules of the service', () => {
    const sandbox = createSandbox({ policy: redisRules })
    sandbox.store.run('ACL', 'SETUSER', 'ann', 'on', '>hunter22', '+get', '~*', '(+set ~b)')
    expect(() => sandbox.store.run('ACL', 'SETUSER', 'ann', '>hunter23', '<hunter24')).toThrow()
    expect(() => sandbox.store.run('ACL', 'SETUSER', 'ann', '(+get >hunter25)')).toThrow()
    expect(() => sandbox.store.run('ACL', 'SETUSER', 'ann', '(>hunter26', '~a)')).toThrow()
    sandbox.store.run('ACL', 'DRYRUN', 'ann', 'ACL', 'SETUSER', 'ben', '>hunter27')
    const dump = sandbox.dump()
    const shown = [sandbox.traffic.timeline(), JSON.stringify(sandbox.traffic.toTrace()), JSON.stringify(dump)]
    for (const text of shown) expect(text).not.toMatch(/hunter2\d/)
    using after = createSandbox()
    after.load(dump)
    expect(after.store.run('ACL', 'RESTTOKEN', 'ann', 'hunter22')).toMatch(/^[A-Za-z0-9+/]{58,}=*$/)
    expect(after.store.run('ACL', 'LIST')).toEqual(sandbox.store.run('ACL', 'LIST'))
    expect(() => after.store.run('ACL', 'SETUSER', 'ann', '>another')).toThrow(/ACL GENTOKEN/)
  })
})

/** Returns the user of a token created for this test. */
function userNamed(store: StoreEngine, name: Bytes) {
  const token = latin1(store.access.generateToken(name, undefined))
  store.access.setUser(name, [latin1(`>${token}`)], { dialect: 'service', hasCommand: () => true })
  return store.access.userOf(token)!
}

const listed = (store: StoreEngine) => store.run('ACL', 'LIST') as readonly string[]

describe('ACL SETUSER rules', () => {
  const attempt = (...words: string[]): unknown => {
    const store = createStore()
    store.run('ACL', 'SETUSER', 'ann', '~k', '&c')
    store.run('ACL', 'SETUSER', 'ben', 'allkeys', 'allchannels')
    try {
      return store.run(...words)
    } catch (error) {
      return (error as ReplyError).message
    }
  }
  const setUser = (user: string, rule: string): unknown => attempt('ACL', 'SETUSER', user, rule)
  const refused = (rule: string, reason: string) => `ERR Error in ACL SETUSER modifier '${rule}': ${reason}`

  // Error texts of redis-server 7.0.15.
  it.each([
    ['ann', 'nonsense', 'Syntax error'],
    ['ann', '', 'Syntax error'],
    ['ann', 'constructor', 'Syntax error'],
    ['ann', '%x~k', 'Syntax error'],
    ['ann', '%R', 'Syntax error'],
    ['ann', '+foo', 'Unknown command or category name in ACL'],
    ['ann', '-foo', 'Unknown command or category name in ACL'],
    ['ann', '+@foo', 'Unknown command or category name in ACL'],
    ['ann', '<nope', 'The password you are trying to remove from the user does not exist'],
    [
      'ann',
      '!abc',
      'The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters',
    ],
    ['ann', `!${'a'.repeat(64)}`, 'The password you are trying to remove from the user does not exist'],
    [
      'ben',
      '~k',
      "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns",
    ],
    [
      'ben',
      '&c',
      "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels",
    ],
  ])('rejects %s %s as redis does', (user, rule, reason) => {
    expect(setUser(user, rule)).toBe(refused(rule, reason))
  })

  // store.md 6.3: rejected by the service; the error texts are those of the double.
  it.each([
    ['ann', 'nopass'],
    ['ann', '>password'],
    ['ann', `#${'a'.repeat(64)}`],
    ['ann', '+client|list'],
    ['ann', '-config|set'],
    ['ann', '(~k +get)'],
    ['default', 'on'],
    ['default_ro', '+set'],
  ])('rejects %s %s as the service does', (user, rule) => {
    expect(setUser(user, rule)).toMatch(refused(rule, ''))
  })

  it.each([
    [['ACL', 'SETUSER', 'a b'], "ERR Usernames can't contain spaces or null characters"],
    [['ACL', 'DELUSER', 'ann', 'default'], "ERR The 'default' user cannot be removed"],
    [['ACL', 'CAT', 'foo'], "ERR Unknown category 'foo'"],
    [['ACL', 'CAT', 'a', 'b'], "ERR unknown subcommand or wrong number of arguments for 'CAT'. Try ACL HELP."],
    [
      ['ACL', 'GENPASS', '0'],
      'ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096',
    ],
    [['ACL', 'GENPASS', 'x'], 'ERR value is not an int or out of range'],
    [['ACL', 'GENPASS', '8', '8'], "ERR unknown subcommand or wrong number of arguments for 'GENPASS'. Try ACL HELP."],
    [['ACL', 'LOG', 'RESET', 'x'], "ERR unknown subcommand or wrong number of arguments for 'LOG'. Try ACL HELP."],
    [['ACL', 'LOG', 'x'], 'ERR value is not an int or out of range'],
    [['ACL', 'WHOAMI', 'x'], "ERR wrong number of arguments for 'acl|whoami' command"],
    [['ACL', 'SETUSER'], "ERR wrong number of arguments for 'acl|setuser' command"],
    [['ACL'], "ERR wrong number of arguments for 'acl' command"],
    [['ACL', 'GENTOKEN', 'ann', 'short'], 'ERR The password is too weak: it needs at least 8 characters'],
    [['ACL', 'RESTTOKEN', 'nobody', 'password'], 'ERR Wrong password or user "nobody" does not exist'],
    [['ACL', 'RESTTOKEN', 'ann', 'password'], 'ERR Wrong password or user "ann" does not exist'],
    [
      ['ACL', 'FOO', 'ann', 'GET', 'k'],
      "ERR Command is not available: 'ACL FOO'. See https://docs.test/redis/overall/rediscompatibility for details",
    ],
  ])('replies to %j with %s', (words, text) => {
    expect(attempt(...words)).toBe(text)
  })

  it('applies none of the rules if one is wrong', () => {
    const store = createStore()
    store.run('ACL', 'SETUSER', 'ann', '~k')
    expect(() => store.run('ACL', 'SETUSER', 'ann', 'on', '+get', '~other', '+foo')).toThrow(ReplyError)
    expect(() => store.run('ACL', 'SETUSER', 'eve', 'on', '+foo')).toThrow(ReplyError)
    expect(listed(store).slice(2)).toEqual(['user ann off ~k resetchannels -@all'])
  })

  it('shows users with the result of their rules', () => {
    const store = createStore()
    store.run('ACL', 'SETUSER', 'ann', 'on', '~a*', '%R~b', '&news', '+@all', '-@dangerous', '+KEYS', '-get', '+get')
    const token = String(store.run('ACL', 'GENTOKEN', 'ann'))
    store.run('ACL', 'SETUSER', 'ann', `>${token}`)
    const hash = createHash('sha256').update(token).digest('hex')
    expect(store.run('ACL', 'GETUSER', 'ann')).toEqual([
      ...['flags', ['on'], 'passwords', [hash], 'commands', '+@all -@dangerous +keys +get'],
      ...['keys', ['a*', '%R~b'], 'channels', ['news']],
    ])
    expect(listed(store).at(-1)).toBe(`user ann on #${hash} ~a* %R~b resetchannels &news +@all -@dangerous +keys +get`)
    store.run(
      'ACL',
      'SETUSER',
      'ann',
      'resetkeys',
      'allkeys',
      'resetchannels',
      'allchannels',
      'allcommands',
      `<${token}`,
    )
    expect(store.run('ACL', 'GETUSER', 'ann')).toEqual([
      ...['flags', ['on', 'allkeys', 'allchannels', 'allcommands'], 'passwords', [], 'commands', '+@all'],
      ...['keys', ['*'], 'channels', ['*']],
    ])
    store.run('ACL', 'SETUSER', 'ann', 'reset')
    expect(listed(store).at(-1)).toBe('user ann off resetchannels -@all')
    expect(store.run('ACL', 'GETUSER', 'nobody')).toBeNull()
    expect(store.run('ACL', 'USERS')).toEqual(['default', 'default_ro', 'ann'])
    expect(store.run('ACL', 'DELUSER', 'ann', 'nobody', 'ann')).toBe(1)
    expect(store.run('ACL', 'USERS')).toEqual(['default', 'default_ro'])
  })

  it('replies to commands that concern no user', () => {
    const store = createStore()
    expect(store.run('ACL', 'CAT')).toContain('json')
    expect(store.run('ACL', 'CAT', 'STREAM')).toContain('xgroup|create')
    expect(store.run('ACL', 'CAT', 'pubsub')).toEqual(expect.arrayContaining(['publish', 'subscribe', 'pubsub|numsub']))
    expect(store.run('ACL', 'WHOAMI')).toBe('default')
    expect(store.run('ACL', 'LOG')).toEqual([])
    expect(store.run('ACL', 'LOG', 5)).toEqual([])
    expect(store.run('ACL', 'LOG', 'reset')).toMatchObject({ text: 'OK' })
    expect(store.run('ACL', 'SAVE')).toMatchObject({ text: 'OK' })
    expect(store.run('ACL', 'LOAD')).toMatchObject({ text: 'OK' })
    expect(store.run('ACL', 'GENPASS')).toMatch(/^[0-9a-f]{64}$/)
    expect(store.run('ACL', 'GENPASS', 9)).toMatch(/^[0-9a-f]{4}$/)
    expect(store.run('ACL', 'GENPASS')).not.toBe(store.run('ACL', 'GENPASS'))
  })
})

describe('ACL tokens over REST', () => {
  const command = async (sandbox: Sandbox, token: string, ...argv: string[]) => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await sandbox.fetch(sandbox.urls.store, { method: 'POST', headers, body: JSON.stringify(argv) })
    const body = (await answer.json()) as { result?: unknown; error?: string }
    return answer.status === 200 ? body.result : `${answer.status} ${body.error}`
  }
  const unauthorized = /^401 WRONGPASS invalid or missing auth token/
  const noCommand = (name: string) =>
    `400 NOPERM this user has no permissions to run the '${name}' command or its subcommand`

  const withUser = async (...rules: string[]) => {
    const sandbox = createSandbox()
    const admin = (...argv: string[]) => command(sandbox, sandbox.tokens.store, ...argv)
    const token = String(await admin('ACL', 'GENTOKEN', 'ann', 'correct horse'))
    expect(await admin('ACL', 'SETUSER', 'ann', 'on', `>${token}`, ...rules)).toBe('OK')
    return { sandbox, admin, token, ann: (...argv: string[]) => command(sandbox, token, ...argv) }
  }

  it('look like those of the service; RESTTOKEN accepts them and their password', async () => {
    const { admin, token } = await withUser('+@read', '~*')
    expect(token).toMatch(/^[A-Za-z0-9+/]{58,100}=*$/)
    expect(await admin('ACL', 'RESTTOKEN', 'ann', token)).toBe(token)
    expect(await admin('ACL', 'RESTTOKEN', 'ann', 'correct horse')).toBe(token)
    expect(await admin('ACL', 'RESTTOKEN', 'ann', 'wrong horse')).toBe(
      '400 ERR Wrong password or user "ann" does not exist',
    )
  })

  it('grant the permissions of their user', async () => {
    const { admin, ann } = await withUser('+@read', '+@connection', '-mget', '~a*', '+acl')
    await admin('SET', 'a1', 'x')
    expect(await ann('GET', 'a1')).toBe('x')
    expect(await ann('ACL', 'WHOAMI')).toBe('ann')
    expect(await ann('PING')).toBe('PONG')
    expect(await ann('GET', 'b1')).toBe(
      '400 NOPERM this user has no permissions to access one of the keys used as arguments',
    )
    expect(await ann('SET', 'a1', 'y')).toBe(noCommand('set'))
    expect(await ann('CONFIG', 'GET', '*')).toBe(noCommand('config|get'))
    expect(await ann('MGET', 'a1')).toBe(noCommand('mget'))
    expect(await ann('PUBLISH', 'news', 'x')).toBe(noCommand('publish'))
  })

  it('follow changes of their user immediately', async () => {
    const { admin, ann, token } = await withUser('+get', 'allkeys')
    expect(await ann('SET', 'k', 'v')).toBe(noCommand('set'))
    await admin('ACL', 'SETUSER', 'ann', '+set')
    expect(await ann('SET', 'k', 'v')).toBe('OK')
    await admin('ACL', 'SETUSER', 'ann', 'off')
    expect(await ann('GET', 'k')).toMatch(unauthorized)
    await admin('ACL', 'SETUSER', 'ann', 'on')
    expect(await ann('GET', 'k')).toBe('v')
    await admin('ACL', 'SETUSER', 'ann', `<${token}`)
    expect(await ann('GET', 'k')).toMatch(unauthorized)
    await admin('ACL', 'SETUSER', 'ann', `>${token}`)
    expect(await ann('GET', 'k')).toBe('v')
    await admin('ACL', 'DELUSER', 'ann')
    expect(await ann('GET', 'k')).toMatch(unauthorized)
  })

  it('are rejected for other users', async () => {
    const { admin, token } = await withUser('+get')
    expect(await admin('ACL', 'SETUSER', 'ben', 'on', `>${token}`)).toMatch(/modifier '>/)
    const forged = `${token.slice(0, -4)}AAA=`
    expect(await admin('ACL', 'SETUSER', 'ann', `>${forged}`)).toMatch(/modifier '>/)
  })

  it('are equal for the same seed and differ for another', async () => {
    const tokens = async (seed: number) => {
      const sandbox = createSandbox({ seed })
      const admin = (...argv: string[]) => command(sandbox, sandbox.tokens.store, ...argv)
      return [
        await admin('ACL', 'GENTOKEN', 'ann', 'correct horse'),
        await admin('ACL', 'GENTOKEN', 'ann'),
        await admin('ACL', 'GENTOKEN', 'ann'),
        await admin('ACL', 'GENPASS'),
      ]
    }
    const first = await tokens(1)
    expect(await tokens(1)).toEqual(first)
    expect(new Set([...first, ...(await tokens(2))]).size).toBe(8)
  })

  it('RESTTOKEN returns those of built-in users to clients that know them', async () => {
    const { sandbox, admin } = await withUser()
    expect(await admin('ACL', 'RESTTOKEN', 'default', sandbox.tokens.store)).toBe(sandbox.tokens.store)
    expect(await admin('ACL', 'RESTTOKEN', 'default_ro', sandbox.tokens.storeReadonly)).toBe(
      sandbox.tokens.storeReadonly,
    )
    expect(await admin('ACL', 'RESTTOKEN', 'default', 'guess')).toBe(
      '400 ERR Wrong password or user "default" does not exist',
    )
    expect(await command(sandbox, sandbox.tokens.storeReadonly, 'ACL', 'LIST')).toBe(noCommand('acl|list'))
  })
})
