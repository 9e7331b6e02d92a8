import { spawn } from 'node:child_process'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findRedisCli } from '../../../../test/support/redis-server.js'
import { type StuntdoubleServer, startServer } from '../../src/server.js'

// redis-cli, the command-line client of redis-server, with commands as users type them.

const cli = findRedisCli()
if (cli === undefined) {
  console.log(
    'redis-cli: not run, because it is not installed; `node test/support/obtain-redis-server.ts` gets it from Debian.',
  )
}

describe.skipIf(cli === undefined)('redis-cli', () => {
  let server: StuntdoubleServer
  let url: string
  beforeAll(async () => {
    server = await startServer({ port: 0, redisPort: 0, clock: 'real' })
    url = server.tenant('main').env.REDIS_URL!
  })
  beforeEach(() => void run('FLUSHALL'))
  afterAll(() => server.close())

  function run(...words: (string | number)[]): unknown {
    return server.tenant('main').store.run(...(words as [string, ...string[]]))
  }

  /** Returns its output, and its exit code unless it is 0. */
  function typed(args: readonly string[], input = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = spawn(cli!.path, ['-u', url, '--no-auth-warning', ...args], {
        env: { ...process.env, ...cli!.env },
        stdio: ['pipe', 'pipe', 'pipe'],
        timeout: 20_000,
      })
      let out = ''
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        out += chunk
      })
      child.on('error', reject)
      child.on('close', (code) => resolve(code === 0 ? out : `${out}exit ${code}\n`))
      child.stdin.on('error', () => undefined)
      child.stdin.end(input)
    })
  }

  test('one command prints a formatted reply and a raw one', async () => {
    expect(await typed(['SET', 'greeting', 'hello world'])).toBe('OK\n')
    expect(await typed(['GET', 'greeting'])).toBe('hello world\n')
    expect(await typed(['--no-raw', 'GET', 'nothing'])).toBe('(nil)\n')
    expect(await typed(['--no-raw', 'INCRBY', 'n', '41'])).toBe('(integer) 41\n')
    expect(await typed(['--no-raw', 'RPUSH', 'list', 'a', 'b'])).toBe('(integer) 2\n')
    expect(await typed(['--no-raw', 'LRANGE', 'list', '0', '-1'])).toBe('1) "a"\n2) "b"\n')
    expect(await typed(['--json', 'LRANGE', 'list', '0', '-1'])).toBe('["a","b"]\n')
    expect(await typed(['-x', 'SET', 'from-stdin'], 'line 1\nline 2')).toBe('OK\n')
    expect(run('GET', 'from-stdin')).toBe('line 1\nline 2')
    expect(await typed(['-e', 'INCR', 'list'])).toMatch(/^WRONGTYPE .*\n\n?exit 1\n$/)
  })

  test('RESP3 prints maps, sets and numbers', async () => {
    run('HSET', 'user', 'name', 'Ada', 'age', '36')
    run('ZADD', 'scores', '1.5', 'a')
    run('SADD', 'set', 'x')
    expect(await typed(['-3', '--no-raw', 'HGETALL', 'user'])).toBe('1# "name" => "Ada"\n2# "age" => "36"\n')
    expect(await typed(['-3', '--no-raw', 'ZSCORE', 'scores', 'a'])).toBe('(double) 1.5\n')
    expect(await typed(['-3', '--no-raw', 'SMEMBERS', 'set'])).toBe('1~ "x"\n')
    expect(await typed(['-3', '--no-raw', 'CLIENT', 'INFO'])).toMatch(/ resp=3 /)
  })

  test('lines run transactions, errors, repetition and HELLO', async () => {
    const lines = [
      'MULTI',
      'INCR n',
      'SET "a key" "with \\"quotes\\""',
      'EXEC',
      'GET "a key"',
      '3 INCR n',
      'nonsense',
      'PING',
    ]
    const told = (await typed([], `${lines.join('\n')}\n`)).split('\n')
    expect(told.slice(0, 9)).toEqual(['OK', 'QUEUED', 'QUEUED', '1', 'OK', 'with "quotes"', '2', '3', '4'])
    expect(told[9]).toMatch(/^ERR /)
    expect(told.filter((line) => line === 'PONG')).toHaveLength(1)
    expect(await typed([], 'HELLO 3\nHSET h a 1\nHGETALL h\n')).toMatch(/1\na 1\n$/)
  })

  test('--pipe inserts 20,000 commands', async () => {
    const commands = Array.from(
      { length: 20_000 },
      (_, at) => `*3\r\n$3\r\nSET\r\n$9\r\nkey:${10_000 + at}\r\n$1\r\nx\r\n`,
    )
    expect(await typed(['--pipe'], `${commands.join('')}INCR key:10000\r\n`)).toMatch(
      /value is not an int or out of range[\s\S]*errors: 1, replies: 20001\n/,
    )
    expect(run('DBSIZE')).toBe(20_000)
  })

  test('--scan prints all pages', async () => {
    for (let at = 0; at < 1_500; at++) run('SET', `user:${at}`, 'x')
    run('RPUSH', 'user:list', 'a')
    run('SET', 'other', 'x')
    const found = (await typed(['--scan', '--pattern', 'user:*'])).trim().split('\n')
    expect(new Set(found).size).toBe(1_501)
    expect(await typed(['--scan', '--pattern', 'other*'])).toBe('other\n')
  })

  test('--bigkeys and --memkeys find the largest key of each type', async () => {
    run('SET', 'large', 'x'.repeat(1_000))
    run('SET', 'small', 'x')
    run('RPUSH', 'long', ...'abcdef'.split(''))
    run('HSET', 'wide', 'a', '1', 'b', '2')
    const told = await typed(['--bigkeys'])
    expect(told).toMatch(/Biggest string found '"large"' has 1000 bytes/)
    expect(told).toMatch(/Biggest\s+list found '"long"' has 6 items/)
    expect(told).toMatch(/Biggest\s+hash found '"wide"' has 2 fields/)
    expect(await typed(['--memkeys'])).toMatch(/Biggest string found '"large"' has 1\d\d\d bytes/)
  })

  test('blocks for an element, and receives messages', async () => {
    const popped = typed(['BLPOP', 'queue', '10'])
    await expect.poll(() => String(run('INFO', 'clients'))).toContain('blocked_clients:1')
    run('RPUSH', 'queue', 'job')
    expect(await popped).toBe('queue\njob\n')
    const monitor = spawn(cli!.path, ['-u', url, '--no-auth-warning', 'MONITOR'], {
      env: { ...process.env, ...cli!.env },
    })
    let seen = ''
    monitor.stdout.on('data', (chunk) => {
      seen += chunk
    })
    try {
      await expect.poll(() => seen).toBe('OK\n')
      await typed(['SET', 'a', 'b c'])
      await expect.poll(() => seen).toMatch(/^OK\n\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "SET" "a" "b c"\n$/)
    } finally {
      monitor.kill()
    }
  })

  test('runs scripts, and repeats commands', async () => {
    expect(await typed(['EVAL', 'return {KEYS[1], ARGV[1]}', '1', 'k', 'v'])).toBe('k\nv\n')
    expect(await typed(['-r', '3', '-i', '0.01', 'INCR', 'n'])).toBe('1\n2\n3\n')
  })

  test('gets only NOAUTH without a password', async () => {
    const host = new URL(url)
    const child = spawn(cli!.path, ['-h', host.hostname, '-p', host.port, 'GET', 'a'], {
      env: { ...process.env, ...cli!.env },
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    await new Promise((resolve) => child.on('close', resolve))
    expect(out).toBe('NOAUTH Authentication required.\n\n')
  })
})
