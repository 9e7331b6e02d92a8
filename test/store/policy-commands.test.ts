import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js'
import { ReplyError } from '../../src/store/command/reply.js'
import { commandTable } from '../../src/store/commands/index.js'
import { sessionCommands } from '../../src/store/resp/session-commands.js'
import { Rest } from '../support/ask.js'
import { documentedCommands } from '../support/documented-commands.js'

// policy.commands. Which groups the service supports: service.md B. Which commands have no page:
// docs/protocol/commands.json. Groups and versions of commands are those of redis-server; its replies are recorded in
// test/store/*.steps.ts.

const rows = documentedCommands()
const undocumented = rows.filter(({ name, status }) => status === 'redis' && !name.endsWith('*'))
const bound = /^(?:CLIENT|S?SUBSCRIBE|SUNSUBSCRIBE)\b/
const refusing = { policy: { commands: 'documented' } } as const

/** One line for each command that exists although the service has no page for it. */
const lines = `
LCS a b|SUBSTR a 0 1|OBJECT ENCODING a|OBJECT FREQ none|OBJECT IDLETIME a|OBJECT REFCOUNT a|OBJECT HELP|SORT l|SORT_RO l
XSETID s 9-9|MOVE a 1|SWAPDB 0 0|RESTORE-ASKING b 0 x|PFDEBUG ENCODING h|PFSELFTEST|SPUBLISH c m|PUBSUB HELP
PUBSUB SHARDCHANNELS|PUBSUB SHARDNUMSUB c|FUNCTION DUMP|FUNCTION RESTORE x|FUNCTION HELP|SCRIPT HELP|ACL DRYRUN default GET a
ACL HELP|SAVE|BGSAVE|BGREWRITEAOF|LASTSAVE|ROLE|LOLWUT|CONFIG RESETSTAT|CONFIG HELP|SLOWLOG GET|SLOWLOG LEN|SLOWLOG RESET
SLOWLOG HELP|LATENCY LATEST|LATENCY HISTORY e|LATENCY GRAPH e|LATENCY RESET|LATENCY HISTOGRAM|LATENCY DOCTOR|LATENCY HELP
MODULE LIST|MODULE HELP|MEMORY DOCTOR|MEMORY STATS|MEMORY PURGE|MEMORY MALLOC-STATS|MEMORY HELP|COMMAND COUNT|COMMAND LIST
COMMAND INFO get|COMMAND DOCS get|COMMAND GETKEYS GET a|COMMAND GETKEYSANDFLAGS GET a|COMMAND HELP`
  .split(/[|\n]/)
  .filter((line) => line !== '')

const nameOf = (line: string): string => {
  const [name = '', subcommand] = line.split(' ')
  return commandTable.named(`${name} ${subcommand}`)?.name ?? name
}

/** Commands whose correct reply is an error: a bad payload, another database, no samples. */
const answeredWithError: Readonly<Record<string, string>> = {
  'MOVE a 1': 'ERR DB index is out of range',
  'RESTORE-ASKING b 0 x': 'ERR DUMP payload version or checksum are wrong',
  'FUNCTION RESTORE x': 'ERR DUMP payload version or checksum are wrong',
  'LATENCY GRAPH e': "ERR No samples available for event 'e'",
}

function open(options: Parameters<typeof Rest.open>[0] = {}): Rest {
  const rest = Rest.open({ onWarning: () => undefined, ...options })
  const { store } = rest.sandbox
  for (const line of ['SET a 1', 'RPUSH l 2 1', 'XADD s 1-1 f v', 'PFADD h a']) store.run(...line.split(' '))
  return rest
}

const notThere = (name: string): string =>
  `ERR Command is not available: '${name}'. See https://docs.service.test/redis/overall/rediscompatibility for details`

const sentence = (name: string): string =>
  `${name} has no page in the service's documentation, so the service may reject it. Set policy.commands to 'documented' to reject it too`

describe('commands of redis-server 7.0', () => {
  const limits = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8')
  const recorded = JSON.parse(readFileSync(new URL('../transcripts/permissions.json', import.meta.url), 'utf8')) as {
    readonly commands: Readonly<Record<string, unknown>>
  }
  const known = Object.keys(recorded.commands).map((name) => name.toUpperCase().replace('|', ' '))
  const containers = new Set(known.filter((name) => name.includes(' ')).map((name) => name.split(' ')[0]!))
  const absent = known.filter(
    (name) =>
      commandTable.named(name) === undefined &&
      !containers.has(name) &&
      // Excluded: commands of connections, blocking ones, and Cluster, which the service does not support. [service.md
      // B]
      !sessionCommands.has(name) &&
      !/^(?:CLUSTER|CLIENT) |^(?:ASKING|READONLY|READWRITE|B[LRZ]\w+)$/.test(name),
  )

  it('exist, except for those with a reason in docs/limits.md', () => {
    expect(known.length).toBeGreaterThan(300)
    expect(absent.filter((name) => !limits.includes(`\`${name}\``))).toEqual([])
  })

  it('are missing only if they end the process, use a network or need a second server', () => {
    expect(absent.sort()).toEqual(
      [
        ...['CONFIG REWRITE', 'DEBUG', 'FAILOVER', 'MIGRATE', 'MODULE LOAD', 'MODULE LOADEX', 'MODULE UNLOAD', 'PSYNC'],
        ...['REPLCONF', 'REPLICAOF', 'SCRIPT DEBUG', 'SHUTDOWN', 'SLAVEOF', 'SYNC'],
      ].sort(),
    )
  })

  it.each(absent)('include %s only with the error of an unknown command', async (name) => {
    const { status, json } = await open().post('/', name.split(' '))
    expect([status, json]).toEqual([400, { error: notThere(name) }])
  })

  it('have no page only up to version 7.0', () => {
    const newer = commandTable.commands.filter(({ status, since }) => status === 'redis' && since > '7.0.0')
    expect(newer).toEqual([])
  })

  it('are all tested below if they have no page', () => {
    const built = commandTable.commands.filter(({ status }) => status === 'redis').map(({ name }) => name)
    expect(lines.map(nameOf).sort()).toEqual(built.sort())
  })
})

describe("policy.commands: 'all'", () => {
  it.each(lines)('enables %s: alone, by path, in a pipeline and in a transaction', async (line) => {
    const argv = line.split(' ')
    const error = answeredWithError[line]
    const answers = [
      await open().post('/', argv),
      await open().get(`/${argv.join('/')}`),
      await open().post('/pipeline', [argv]),
      await open().post('/multi-exec', [argv]),
    ].map(({ json }) => (Array.isArray(json) ? json[0] : json) as object)
    // [redis 7.0: SAVE is no_multi]
    if (line === 'SAVE') expect(answers.pop()).toEqual({ error: 'ERR Command not allowed inside a transaction' })
    for (const json of answers) {
      if (error === undefined) expect(json).toHaveProperty('result')
      else expect(json).toEqual({ error })
    }
  })

  it('is the default; other values are rejected', () => {
    expect(createSandbox().policy.commands).toBe('all')
    expect(() => createSandbox({ policy: { commands: 'redis' as 'all' } })).toThrow('policy.commands must be')
  })

  it('lets users have, or lack, the permission for these commands', async () => {
    const rest = open()
    expect(await rest.run('ACL', 'SETUSER', 'ada', '+sort')).toBe('OK')
    expect(await rest.run('ACL', 'CAT', 'list')).toContain('sort')
    expect(await rest.run('ACL', 'CAT', 'hyperloglog')).toContain('pfdebug')
  })

  it('still rejects blocking commands and commands of connections over REST, but accepts SELECT 0', async () => {
    const rest = open()
    for (const line of ['BLPOP l 0', 'WATCH a', 'MULTI', 'EXEC', 'CLUSTER INFO', 'AUTH x', 'CLIENT LIST', 'HELLO 3']) {
      expect((await rest.post('/', line.split(' '))).status).toBe(400)
    }
    expect(await rest.run('SELECT', 0)).toBe('OK')
    expect(rest.sandbox.store.diagnostics).toEqual([])
  })
})

describe('commands without a page', () => {
  it('SAVE and BGSAVE set the virtual time for LASTSAVE and INFO', async () => {
    const rest = open({ startAt: '2030-01-01T00:00:00Z' })
    const at = Date.UTC(2030, 0, 1) / 1000
    expect(await rest.run('LASTSAVE')).toBe(at)
    await rest.sandbox.clock.advance('1h')
    expect(await rest.run('LASTSAVE')).toBe(at)
    expect(await rest.run('SAVE')).toBe('OK')
    expect(await rest.run('LASTSAVE')).toBe(at + 3600)
    await rest.sandbox.clock.advance('1h')
    expect(await rest.run('BGSAVE')).toBe('Background saving started')
    await rest.run('BGREWRITEAOF')
    expect(await rest.run('INFO', 'persistence')).toBe(
      `# Persistence\r\nrdb_last_save_time:${at + 7200}\r\nrdb_saves:2\r\naof_enabled:0\r\naof_rewrites:1\r\n`,
    )
    using fork = await rest.sandbox.fork()
    expect(fork.store.run('LASTSAVE')).toBe(at + 7200)
  })

  it('CONFIG RESETSTAT resets the counters of INFO, but not the billed amounts', async () => {
    const rest = open()
    for (let count = 0; count < 3; count++) await rest.run('GET', 'a')
    const billed = rest.sandbox.store.cost().commands
    await rest.run('CONFIG', 'RESETSTAT')
    expect(await rest.run('INFO', 'stats')).toContain('total_reads_processed:1\r\n')
    expect(rest.sandbox.store.cost().commands).toBe(billed + 2)
  })

  it('COMMAND describes the table that the policy selects', () => {
    const all = open().sandbox.store
    const names = all.run('COMMAND', 'LIST') as string[]
    expect(names).toContain('sort')
    expect(names).toContain('json.get')
    expect(names).toHaveLength(all.run('COMMAND', 'COUNT') as number)
    expect(all.run('COMMAND')).toEqual([])
    // [redis 7.0: COMMAND INFO mset config, its first, last and step]
    const [mset, config] = all.run('COMMAND', 'INFO', 'mset', 'config') as unknown[][]
    expect(mset!.slice(0, 6)).toEqual(['mset', -3, ['write', 'denyoom'], 1, -1, 2])
    expect((config!.at(-1) as string[][]).map(([name]) => name)).toContain('config|get')
    expect(all.run('COMMAND', 'DOCS', 'sort')).toEqual(['sort', ['since', '1.0.0', 'group', 'generic']])
  })

  it('PFDEBUG GETREG returns the registers and makes the counter dense', () => {
    const { store } = open().sandbox
    // [redis 7.0: PFADD h a; PFDEBUG DECODE h → Z:12711 v:2,1 Z:3672]
    const registers = store.run('PFDEBUG', 'GETREG', 'h') as number[]
    expect(registers).toHaveLength(16_384)
    expect([registers[12_711], registers.filter((value) => value > 0)]).toEqual([2, [2]])
    expect(store.run('PFDEBUG', 'ENCODING', 'h')).toBe('dense')
    expect(store.run('PFCOUNT', 'h')).toBe(1)
  })

  it('ACL DRYRUN checks a command without running it', () => {
    const { store } = open().sandbox
    store.run('ACL', 'SETUSER', 'ada', '+get', '+set', '~k*')
    // [redis 7.0: ACL DRYRUN]
    expect(store.run('ACL', 'DRYRUN', 'ada', 'SET', 'k', 'v')).toBe('OK')
    expect(store.run('EXISTS', 'k')).toBe(0)
    expect(store.run('ACL', 'DRYRUN', 'ada', 'GET', 'b')).toBe("This user has no permissions to access the 'b' key")
    expect(store.run('ACL', 'DRYRUN', 'ada', 'CONFIG', 'GET', 'x')).toBe(
      "This user has no permissions to run the 'config|get' command",
    )
    expect(() => store.run('ACL', 'DRYRUN', 'bob', 'GET', 'k')).toThrow("ERR User 'bob' not found")
    expect(() => store.run('ACL', 'DRYRUN', 'ada', 'NOPE', 'k')).toThrow("ERR Command 'NOPE' not found")
    expect(() => store.run('ACL', 'DRYRUN', 'ada', 'GET')).toThrow("ERR wrong number of arguments for 'get' command")
  })

  it('LOLWUT is allowed for the read-only token, and ROLE is not', async () => {
    const rest = open()
    const token = rest.sandbox.tokens.storeReadonly
    expect((await rest.post('/', ['LOLWUT'], { token })).status).toBe(200)
    expect((await rest.post('/', ['ROLE'], { token })).json).toEqual({
      error: "NOPERM this user has no permissions to run the 'role' command or its subcommand",
    })
  })
})

describe("policy.commands: 'documented'", () => {
  const rest = open(refusing)

  it.each(undocumented.filter(({ name }) => !bound.test(name)).map(({ name }) => name))(
    'replies to %s as to an unknown command',
    async (name) => {
      // An enabled container is known, so its subcommands have another error text.
      const { status, json } = await rest.post('/', name.split(' '))
      expect(status).toBe(400)
      expect([notThere(name), notThere(name.split(' ')[0]!)]).toContain((json as { error: string }).error)
    },
  )

  it.each(lines)('disables %s: alone, by path, in a pipeline, in a transaction and in a script', async (line) => {
    const argv = line.split(' ')
    const error = notThere(nameOf(line))
    expect((await rest.post('/', argv)).json).toEqual({ error })
    expect((await rest.get(`/${argv.join('/')}`)).json).toEqual({ error })
    expect((await rest.post('/pipeline', [argv, ['GET', 'a']])).json).toEqual([{ error }, { result: '1' }])
    expect(await rest.post('/multi-exec', [['INCR', 'a'], argv])).toMatchObject({ status: 400, json: { error } })
    await expect(rest.run('EVAL', 'return redis.call(unpack(ARGV))', 0, ...argv)).rejects.toThrow(
      'Unknown Redis command called from script',
    )
    expect(await rest.run('GET', 'a')).toBe('1')
    expect(() => rest.sandbox.store.run(...argv)).toThrow(error)
    const connection = rest.sandbox.store.connect()
    await expect(connection.run(...(argv as [string]))).rejects.toThrow(error)
    expect(rest.sandbox.store.diagnostics).toEqual([])
  })

  it('enables MSETEX, which has a page', async () => {
    expect(await open(refusing).run('MSETEX', 1, 'b', 2)).toBe(1)
  })

  it('rejects rules of users for disabled commands', async () => {
    await expect(rest.run('ACL', 'SETUSER', 'ada', '+sort')).rejects.toThrow('Unknown command or category name in ACL')
    const lists = await Promise.all(['read', 'write', 'slow', 'sortedset'].map((name) => rest.run('ACL', 'CAT', name)))
    expect(lists.flat()).not.toContain('sort')
    expect(lists.flat()).not.toContain('object|encoding')
    expect(lists.flat()).toContain('zadd')
  })

  it('accepts a dump with users that have the permission for them', () => {
    const before = createSandbox()
    before.store.run('ACL', 'SETUSER', 'ada', 'on', '+sort', '+get', '~*')
    using after = createSandbox(refusing)
    after.load(before.dump())
    expect(after.store.run('ACL', 'GETUSER', 'ada')).toEqual(before.store.run('ACL', 'GETUSER', 'ada'))
  })
})

describe('store.diagnostics', () => {
  const noted = (sandbox: Sandbox): readonly (string | undefined)[] =>
    sandbox.traffic.ofType('command').map(({ note }) => note)

  const [failing, running] = [true, false].map((fails) => lines.filter((line) => line in answeredWithError === fails))

  it.each(running!)('note %s, also in the note of its entry', async (line) => {
    const rest = open()
    await rest.post('/', line.split(' '))
    expect(rest.sandbox.store.diagnostics).toEqual([sentence(nameOf(line))])
    expect(noted(rest.sandbox).at(-1)).toBe(sentence(nameOf(line)))
  })

  it.each([
    ...failing!,
    'SORT',
    'SORT a',
    'LCS a',
    'OBJECT FREQ',
    'SORT l BY',
    'SWAPDB 0 1',
    'SSUBSCRIBE',
    'CLIENT REPLY x',
  ])(
    'do not note %s when it fails: alone, in a pipeline, in a script, over a connection, by the test',
    async (line) => {
      const rest = open()
      const { store } = rest.sandbox
      const argv = line.split(' ')
      const answers = [await rest.post('/', argv), await rest.post('/pipeline', [argv])]
      expect(JSON.stringify(answers.map(({ json }) => json)).match(/"error"/g)).toHaveLength(2)
      await expect(rest.run('EVAL', 'return redis.call(unpack(ARGV))', 0, ...argv)).rejects.toThrow('ERR')
      await expect(store.connect().run(...(argv as [string]))).rejects.toThrow()
      expect(() => store.run(...argv)).toThrow()
      expect(store.diagnostics).toEqual([])
      expect(noted(rest.sandbox).filter((note) => note !== undefined)).toEqual([])
    },
  )

  it('note each command once, from pipelines, transactions, scripts, connections and the test', async () => {
    const rest = open()
    await rest.post('/pipeline', [
      ['SORT', 'l'],
      ['GET', 'a'],
      ['SORT', 'l'],
    ])
    await rest.post('/multi-exec', [
      ['LCS', 'a', 'a'],
      ['GET', 'a'],
    ])
    await rest.run('EVAL', "redis.call('SORT_RO', 'l') return redis.call('OBJECT', 'ENCODING', 'a')", 0)
    await rest.sandbox.store.connect().run('ROLE')
    rest.sandbox.store.run('LOLWUT')
    const names = ['SORT', 'LCS', 'SORT_RO', 'OBJECT ENCODING', 'ROLE', 'LOLWUT']
    expect(rest.sandbox.store.diagnostics).toEqual(names.map(sentence))
    expect(noted(rest.sandbox).slice(4)).toEqual([
      ...[sentence('SORT'), undefined, sentence('SORT'), sentence('LCS'), undefined],
      ...[`${sentence('SORT_RO')}; ${sentence('OBJECT ENCODING')}`, sentence('ROLE'), sentence('LOLWUT')],
    ])
  })

  it('are part of the timeline and the trace, and are cleared by a reset', async () => {
    const rest = open()
    await rest.run('SORT', 'l')
    expect(rest.sandbox.traffic.timeline()).toContain('SORT has no page')
    expect(JSON.stringify(rest.sandbox.traffic.toTrace())).toContain('SORT has no page')
    rest.sandbox.reset()
    expect(rest.sandbox.store.diagnostics).toEqual([])
  })

  it('do not note commands that have a page, were rejected, or come from observers', async () => {
    const rest = open()
    await rest.run('GET', 'a')
    await rest.post('/', ['MIGRATE', 'h', '1', 'a', '0', '1'])
    rest.sandbox.asOf({ seq: 1 }).store.run('SORT_RO', 'l')
    expect(rest.sandbox.store.diagnostics).toEqual([])
  })

  it.each([
    ['XREAD', 'XREAD BLOCK 0 STREAMS s $', null],
    ['XREADGROUP', 'XREADGROUP GROUP g c BLOCK 100 STREAMS s >', null],
    ['XREAD', 'xread block 5 COUNT 1 STREAMS s 0', [['s', [['1-1', ['f', 'v']]]]]],
  ])('%s with BLOCK over REST keeps its reply: %s', async (name, line, reply) => {
    const rest = open()
    rest.sandbox.store.run('XGROUP', 'CREATE', 's', 'g', '$')
    expect(await rest.run(...line.split(' '))).toEqual(reply)
    expect(rest.sandbox.store.diagnostics).toEqual([expect.stringMatching(new RegExp(`^${name} with BLOCK .*REST`))])
    expect(noted(rest.sandbox).at(-1)).toMatch(/BLOCK/)
  })

  it('do not note XREAD without BLOCK, or with BLOCK where it waits or in scripts', async () => {
    const rest = open()
    await rest.run('XREAD', 'STREAMS', 's', '$')
    await rest.run('XREAD', 'STREAMS', 'BLOCK', '0')
    await rest.run('EVAL', "return redis.call('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$')", 0)
    const waiting = rest.sandbox.store.connect()
    void waiting.run('XREAD', 'BLOCK', 5, 'STREAMS', 's', '$')
    await rest.sandbox.clock.advance('1s')
    expect(rest.sandbox.store.diagnostics).toEqual([])
  })

  it('warn once for each command, in all sandboxes together', async () => {
    const heard: string[] = []
    const warn = (text: string): void => void heard.push(text)
    for (let count = 0; count < 2; count++) {
      const rest = open({ onWarning: warn })
      await rest.run('SORT', 'l')
      await rest.run('SORT', 'l')
      await rest.run('LCS', 'a', 'a')
      await rest.run('XREAD', 'BLOCK', 0, 'STREAMS', 's', '$')
      using fork = await rest.sandbox.fork()
      fork.store.run('SORT', 'l')
    }
    expect(heard).toEqual([sentence('SORT'), sentence('LCS'), expect.stringMatching(/^XREAD with BLOCK/)])
  })

  it('do not hide the error of a failing command', () => {
    expect(() => open().sandbox.store.run('SORT', 'a')).toThrow(ReplyError)
  })
})
