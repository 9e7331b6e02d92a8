import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.js'
import { Rest } from '../support/ask.js'
import { documentedCommands } from '../support/documented-commands.js'

// policy.commands. Which commands the service has no page for: docs/protocol/commands.json. Its answer: store.md 7.4.

const rows = documentedCommands()
const undocumented = rows.filter(({ name, status }) => status !== 'documented' && !name.endsWith('*'))
const bound = /^(?:CLIENT|S?SUBSCRIBE)\b/
const withRedis = { policy: { commands: 'all' } } as const
/** Those that are built. */
const built = [
  ...['LCS a b', 'MSETEX 1 a 1', 'SUBSTR a 0 1', 'OBJECT ENCODING a', 'OBJECT FREQ none', 'OBJECT IDLETIME a'],
  ...['OBJECT REFCOUNT a', 'OBJECT HELP', 'SORT l', 'SORT_RO l', 'XSETID s 9-9', 'FUNCTION DUMP'],
]

function open(options: Parameters<typeof Rest.open>[0] = {}): Rest {
  const rest = Rest.open(options)
  const { store } = rest.sandbox
  for (const line of ['SET a 1', 'RPUSH l 2 1', 'XADD s 1-1 f v']) store.run(...line.split(' '))
  return rest
}

const notThere = (name: string) =>
  `ERR Command is not available: '${name}'. See https://docs.service.test/redis/overall/rediscompatibility for details`

const shown = (line: string): string => {
  const [name = '', subcommand = ''] = line.split(' ')
  return rows.some((row) => row.name === `${name} ${subcommand}`) ? `${name} ${subcommand}` : name
}

describe("commands: 'service'", () => {
  const rest = open()

  it.each(undocumented.filter(({ name }) => !bound.test(name)).map(({ name }) => name))(
    '%s is answered like an unknown command',
    async (name) => {
      // Which of them take subcommands, only those tell that do.
      const { status, json } = await rest.post('/', name.split(' '))
      expect(status).toBe(400)
      expect([notThere(name), notThere(name.split(' ')[0]!)]).toContain((json as { error: string }).error)
    },
  )

  it.each(built)(
    '%s is not there: not by itself, by path, in a pipeline, in a transaction or in a script',
    async (line) => {
      const argv = line.split(' ')
      const error = notThere(shown(line))
      expect((await rest.post('/', argv)).json).toEqual({ error })
      expect((await rest.get(`/${argv.join('/')}`)).json).toEqual({ error })
      expect((await rest.post('/pipeline', [argv, ['GET', 'a']])).json).toEqual([{ error }, { result: '1' }])
      expect(await rest.post('/multi-exec', [['INCR', 'a'], argv])).toMatchObject({ status: 400, json: { error } })
      await expect(rest.run('EVAL', 'return redis.call(unpack(ARGV))', 0, ...argv)).rejects.toThrow(
        'Unknown Redis command called from script',
      )
      expect(await rest.run('GET', 'a')).toBe('1')
      expect(() => rest.sandbox.store.run(...argv)).toThrow(error)
      const connection = rest.sandbox.store.connection()
      await expect(connection.run(...(argv as [string]))).rejects.toThrow(error)
    },
  )

  it('users can neither have nor lack the permission for one', async () => {
    await expect(rest.run('ACL', 'SETUSER', 'ada', '+sort')).rejects.toThrow('Unknown command or category name in ACL')
    const lists = await Promise.all(['read', 'write', 'slow', 'sortedset'].map((name) => rest.run('ACL', 'CAT', name)))
    expect(lists.flat()).not.toContain('sort')
    expect(lists.flat()).not.toContain('object|encoding')
    expect(lists.flat()).toContain('zadd')
  })

  it('a dump may come from where users had the permission', () => {
    const before = createSandbox(withRedis)
    before.store.run('ACL', 'SETUSER', 'ada', 'on', '+sort', '+get', '~*')
    using after = createSandbox()
    after.load(before.dump())
    expect(after.store.run('ACL', 'GETUSER', 'ada')).toEqual(before.store.run('ACL', 'GETUSER', 'ada'))
  })

  it('is the default, and takes no other word', () => {
    expect(() => createSandbox({ policy: { commands: 'all' as 'redis' } })).toThrow('policy.commands takes')
  })
})

describe("commands: 'all'", () => {
  it.each(built)('%s is there', async (line) => {
    const argv = line.split(' ')
    const rest = open(withRedis)
    expect((await rest.post('/', argv)).json).not.toHaveProperty('error')
    expect((await rest.post('/multi-exec', [argv])).json).not.toMatchObject([{ error: expect.anything() }])
    const script = await rest.post('/', ['EVAL', 'redis.call(unpack(ARGV)) return 1', 0, ...argv])
    if (line !== 'FUNCTION DUMP') expect(script.json).toEqual({ result: 1 })
  })

  it('users may have the permission for them', async () => {
    const rest = open(withRedis)
    expect(await rest.run('ACL', 'SETUSER', 'ada', '+sort')).toBe('OK')
    expect(await rest.run('ACL', 'CAT', 'list')).toContain('sort')
  })
})
