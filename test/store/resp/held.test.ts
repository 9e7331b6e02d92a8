import { describe, expect, onTestFinished, test } from 'vitest'
import { homeOf, porterOf } from '../../../packages/server/src/redis-port/connections.js'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/index.js'
import { Account } from '../../../src/kernel/account.js'
import { type Bytes, fromArray, latin1, toArray } from '../../../src/kernel/bytes.js'
import { hostPause } from '../../../src/kernel/host.js'
import { Crowd, type Shared } from '../../../src/store/resp/crowd.js'
import { RespConnection, type Socket } from '../../../src/store/resp/resp-connection.js'
import type { Outlet, Session } from '../../../src/store/resp/session.js'
import { type RespSessions, sessionsOf } from '../../../src/store/resp/sessions.js'

// Memory that a connection uses, and what happens beyond the limits. Error texts of redis-server 7.0.15.

const outOfMemory = "-OOM command not allowed when used memory > 'maxmemory'.\r\n"

function sandboxOfTest(options: SandboxOptions = {}): Sandbox {
  const sandbox = createSandbox({ clock: 'manual', ...options })
  onTestFinished(() => sandbox.dispose())
  return sandbox
}

/** Session with parsed commands: repeating the same large argument costs nothing. */
class Talk {
  readonly sessions: RespSessions
  readonly session: Session
  isBroken = false

  constructor(sandbox: Sandbox, protocol: 2 | 3 = 2) {
    this.sessions = sessionsOf(sandbox.store)
    const outlet: Outlet = {
      send: () => undefined,
      tell: () => undefined,
      end: () => undefined,
      break: () => {
        this.isBroken = true
      },
    }
    this.session = this.sessions.open('default', { address: 'there:1', protocol, known: {} }, outlet)
  }

  say(...argv: string[]): string {
    const answer: Bytes[] = []
    const turn = { send: (bytes: Bytes) => answer.push(bytes), done: () => undefined, break: () => undefined }
    this.sessions.run(this.session, argv.map(latin1), turn)
    return answer.join('')
  }
}

const megabytes = (count: number, char = 'x'): string => char.repeat(count * 1_048_576)

describe('memory of a connection', () => {
  test('a transaction that is too large runs no command, and the connection continues', () => {
    const sandbox = sandboxOfTest()
    const talk = new Talk(sandbox)
    const value = megabytes(9)
    talk.say('MULTI')
    const answers = Array.from({ length: 9 }, (_, at) => talk.say('SET', `k${at}`, value))
    expect(answers).toEqual([...Array.from({ length: 7 }, () => '+QUEUED\r\n'), outOfMemory, outOfMemory])
    expect(talk.say('EXEC')).toBe('-EXECABORT Transaction discarded because of previous errors.\r\n')
    expect(sandbox.store.run('DBSIZE')).toBe(0)
    expect(talk.session.kept).toBe(0)
    talk.say('MULTI')
    talk.say('SET', 'k', value)
    expect(talk.say('EXEC')).toBe('*1\r\n+OK\r\n')
  })

  test('rows without arguments also count', () => {
    const talk = new Talk(sandboxOfTest())
    talk.say('MULTI')
    talk.say('PING')
    expect(talk.session.kept).toBeGreaterThan(64)
    talk.say('DISCARD')
    expect(talk.session.kept).toBe(0)
  })

  test.each([
    ['channels', ['SUBSCRIBE', 'a'], ['SUBSCRIBE', megabytes(40)], ['UNSUBSCRIBE']],
    ['patterns', ['PSUBSCRIBE', 'a*'], ['PSUBSCRIBE', megabytes(40)], ['PUNSUBSCRIBE']],
    ['keys', ['WATCH', 'a'], ['WATCH', megabytes(40)], ['UNWATCH']],
  ])('%s count until they are released', (_, first, large, end) => {
    const talk = new Talk(sandboxOfTest(), 3)
    talk.say(...first)
    const { kept } = talk.session
    expect(kept).toBeGreaterThan(0)
    // Repeating them adds nothing.
    talk.say(...first)
    expect(talk.session.kept).toBe(kept)
    talk.say(...large)
    expect(talk.session.kept).toBeGreaterThan(40_000_000)
    const another = [...large.slice(0, -1), megabytes(41, 'y')]
    expect(talk.say(...another)).toBe(outOfMemory)
    talk.say(...end)
    expect(talk.session.kept).toBe(0)
  })
})

describe('names of connections', () => {
  test.each([
    ['CLIENT', 'SETNAME'],
    ['HELLO', '2', 'SETNAME'],
    ['CLIENT', 'SETINFO', 'LIB-NAME'],
    ['CLIENT', 'SETINFO', 'LIB-VER'],
  ])('%s %s is limited to 65,536 bytes', (...words) => {
    const talk = new Talk(sandboxOfTest())
    expect(talk.say(...words, 'n'.repeat(65_536))).not.toContain('OOM')
    expect(talk.session.kept).toBe(65_536)
    expect(talk.say(...words, 'n'.repeat(65_537))).toBe(outOfMemory)
    expect(talk.session.kept).toBe(65_536)
  })

  test.each(['LIST', 'INFO'])(
    'a transaction of CLIENT %s stops when its work is used up, before a line is created',
    (which) => {
      const sandbox = sandboxOfTest({ policy: { maxWork: 100_000 } })
      const talks = Array.from({ length: 10 }, () => new Talk(sandbox))
      for (const talk of talks) talk.say('CLIENT', 'SETNAME', 'n'.repeat(65_536))
      const talk = talks[0]!
      talk.say('MULTI')
      for (let count = 0; count < 100; count++) talk.say('CLIENT', which)
      const answer = talk.say('EXEC')
      expect(answer.match(/-ERR max work exceeded/g)!.length).toBeGreaterThan(40)
      expect(answer.length).toBeLessThan(100_000 * 32)
    },
  )

  test('CLIENT LIST that does not fit into the reply of EXEC is not created', () => {
    const sandbox = sandboxOfTest({ policy: { maxResponseSize: 2_000 } })
    const talk = new Talk(sandbox)
    talk.say('CLIENT', 'SETNAME', 'n'.repeat(2_000))
    talk.say('MULTI')
    talk.say('CLIENT', 'LIST')
    talk.say('SET', 'k', 'v')
    expect(talk.say('EXEC')).toMatch(/^\*2\r\n-ERR max response size exceeded.*\r\n\+OK\r\n$/)
  })
})

describe('replies that cost more than their commands', () => {
  test.each([
    ['COMMAND', 'INFO'],
    ['COMMAND', 'DOCS'],
    ['COMMAND', 'LIST'],
    ['COMMAND', 'LIST', 'FILTERBY', 'PATTERN', '*'],
    ['ACL', 'CAT', 'read'],
    ['ACL', 'LIST'],
    ['FUNCTION', 'LIST'],
    ['FUNCTION', 'DUMP'],
    ['GET', 'large'],
  ])('%s %s: a transaction of many stops when its work is used up', (...words) => {
    const sandbox = sandboxOfTest({ policy: { maxWork: 100_000 } })
    sandbox.store.run('SET', 'large', 'x'.repeat(100_000))
    const library = `#!lua name=l\n${Array.from({ length: 200 }, (_, at) => `redis.register_function('f${at}',function() end)`).join('\n')}`
    sandbox.store.run('FUNCTION', 'LOAD', library)
    const talk = new Talk(sandbox)
    talk.say('MULTI')
    for (let count = 0; count < 1_300; count++) talk.say(...words)
    const answer = talk.say('EXEC')
    expect(answer.startsWith('*1300\r\n')).toBe(true)
    expect(answer).toContain('-ERR max work exceeded')
    expect(answer).not.toMatch(/^\*1300\r\n-ERR/)
  })

  test('COMMAND INFO charges each name', () => {
    const talk = new Talk(sandboxOfTest({ policy: { maxWork: 100_000 } }))
    expect(talk.say('COMMAND', 'INFO', ...Array.from({ length: 200 }, () => 'get'))).toMatch(/^\*200\r\n/)
    expect(talk.say('COMMAND', 'INFO', ...Array.from({ length: 2_000 }, () => 'get'))).toMatch(
      /^-ERR max work exceeded/,
    )
    expect(talk.say('COMMAND', 'DOCS', ...Array.from({ length: 9_000 }, () => 'get'))).toMatch(
      /^-ERR max work exceeded/,
    )
  })

  test('descriptions of commands are cached for the next client', () => {
    const talk = new Talk(sandboxOfTest())
    for (const which of ['INFO', 'DOCS', 'LIST']) {
      expect(talk.say('COMMAND', which)).toBe(talk.say('COMMAND', which))
    }
  })

  test('a reply that costs more than the remaining work is sent, and no command runs after it', () => {
    const sandbox = sandboxOfTest({ policy: { maxWork: 1_000 } })
    sandbox.store.run('MSET', 'large', 'x'.repeat(100_000), 'n', '1')
    const talk = new Talk(sandbox)
    talk.say('MULTI')
    talk.say('GETDEL', 'large')
    talk.say('INCR', 'n')
    const answer = talk.say('EXEC')
    expect(answer).toContain('$100000\r\n')
    expect(answer).toMatch(/-ERR max work exceeded[^\r]*\r\n$/)
    expect(sandbox.store.run('GET', 'n')).toBe('1')
    expect(talk.say('INCR', 'n')).toBe(':2\r\n')
  })
})

describe('keys of blocked clients', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at).padStart(8, 'k'))
  const long = [megabytes(40, 'a'), megabytes(40, 'b')]
  const policy = { maxRequestSize: 200_000_000, maxKeySize: 200_000_000 }

  test.each([
    ['BLPOP', (keys: string[]) => ['BLPOP', ...keys, '0']],
    ['BRPOP', (keys: string[]) => ['BRPOP', ...keys, '0']],
    ['BZPOPMIN', (keys: string[]) => ['BZPOPMIN', ...keys, '0']],
    ['BZPOPMAX', (keys: string[]) => ['BZPOPMAX', ...keys, '0']],
    ['BLMPOP', (keys: string[]) => ['BLMPOP', '0', String(keys.length), ...keys, 'LEFT']],
    ['BZMPOP', (keys: string[]) => ['BZMPOP', '0', String(keys.length), ...keys, 'MIN']],
    ['XREAD', (keys: string[]) => ['XREAD', 'BLOCK', '0', 'STREAMS', ...keys, ...keys.map(() => '$')]],
  ])('%s: count until the wait ends, and cost work', (_, words) => {
    const sandbox = sandboxOfTest({ policy: { ...policy, maxWork: 400_000 } })
    const talk = new Talk(sandbox)
    expect(talk.say(...words(names(1_000)))).toBe('')
    expect(talk.session.kept).toBe(1_000 * 200)
    talk.session.unblock('TIMEOUT')
    expect(talk.session.kept).toBe(0)
    expect(talk.say(...words(names(20_000)))).toMatch(/^-ERR max work exceeded/)
    expect(talk.session.isWaiting).toBe(false)
    // Two long names cost no work.
    expect(talk.say(...words(long))).toBe(outOfMemory)
    expect(talk.session.isWaiting).toBe(false)
    expect(talk.session.kept).toBe(0)
  })

  test('XREADGROUP: count until the wait ends, and cost work', () => {
    const sandbox = sandboxOfTest({ policy })
    for (const key of ['x', ...long]) sandbox.store.run('XGROUP', 'CREATE', key, 'g', '$', 'MKSTREAM')
    const talk = new Talk(sandbox)
    const words = (some: string[]) => [
      ...['XREADGROUP', 'GROUP', 'g', 'me', 'BLOCK', '0', 'STREAMS'],
      ...[...some, ...some.map(() => '>')],
    ]
    expect(talk.say(...words(['x']))).toBe('')
    expect(talk.session.kept).toBe(193)
    talk.session.unblock('TIMEOUT')
    expect(talk.say(...words(long))).toBe(outOfMemory)
  })

  test('count together with other memory of the connection', () => {
    const talk = new Talk(sandboxOfTest({ policy }), 3)
    talk.say('SUBSCRIBE', long[0]!)
    expect(talk.say('BLPOP', long[0]!, '0')).toBe(outOfMemory)
    talk.say('UNSUBSCRIBE')
    expect(talk.say('BLPOP', long[0]!, '0')).toBe('')
  })

  test('are not limited if an element is available, for names of any length', () => {
    const sandbox = sandboxOfTest({ policy })
    sandbox.store.run('RPUSH', long[1]!, 'x')
    const talk = new Talk(sandbox)
    expect(talk.say('BLPOP', ...long, '0')).toMatch(/x\r\n$/)
    expect(talk.session.kept).toBe(0)
  })

  test('are not served for a client that left, and are served for the client after it', () => {
    const sandbox = sandboxOfTest()
    const [other, gone, next] = Array.from({ length: 3 }, () => new Talk(sandbox))
    other!.say('BLPOP', 'else', '0')
    const keys = names(5_000)
    gone!.say('BLPOP', ...keys, '0')
    gone!.sessions.leave(gone!.session)
    sandbox.store.run('RPUSH', keys[4_500]!, 'x')
    expect(sandbox.store.run('LLEN', keys[4_500]!)).toBe(1)
    next!.say('BLPOP', keys[4_700]!, keys[4_800]!, '0')
    expect(next!.session.isWaiting).toBe(true)
    sandbox.store.run('RPUSH', keys[4_800]!, 'y')
    expect(next!.session.isWaiting).toBe(false)
    expect(sandbox.store.run('EXISTS', keys[4_800]!)).toBe(0)
    for (const key of keys.slice(0, 50)) sandbox.store.run('RPUSH', key, 'z')
    expect(sandbox.store.run('DBSIZE')).toBe(51)
    expect(other!.session.isWaiting).toBe(true)
    sandbox.store.run('RPUSH', 'else', 'x')
    expect(other!.session.isWaiting).toBe(false)
  })

  test('are limited for a connection of the sandbox', async () => {
    const connection = sandboxOfTest({ policy: { ...policy, maxWork: 400_000 } }).store.connect()
    await expect(connection.run('BLPOP', ...long, 0)).rejects.toThrow(/^OOM/)
    await expect(connection.run('BLPOP', ...names(20_000), 0)).rejects.toThrow(/max work exceeded/)
    expect(connection.isWaiting).toBe(false)
    connection.close()
  })
})

describe('replies that do not fit into a response', () => {
  const policy = { maxResponseSize: 2_000 }

  test('are errors in EXEC, and every command has run', () => {
    const sandbox = sandboxOfTest({ policy })
    sandbox.store.run('SET', 'large', 'x'.repeat(900))
    const talk = new Talk(sandbox)
    talk.say('MULTI')
    for (const word of ['a', 'b', 'c']) {
      talk.say('GET', 'large')
      talk.say('SET', word, '1')
    }
    const answer = talk.say('EXEC')
    expect(answer.match(/\$900\r\n/g)).toHaveLength(2)
    expect(answer).toMatch(/-ERR max response size exceeded. Limit: 2000 bytes .* The command ran/)
    expect(sandbox.store.run('MGET', 'a', 'b', 'c')).toEqual(['1', '1', '1'])
  })

  test('close a connection that receives too much about itself, after the last command', () => {
    const sandbox = sandboxOfTest({ policy })
    const talk = new Talk(sandbox, 3)
    talk.say('SUBSCRIBE', 'c')
    talk.say('MULTI')
    talk.say('SET', 'first', '1')
    for (let count = 0; count < 4; count++) talk.say('PUBLISH', 'c', 'x'.repeat(900))
    talk.say('SET', 'last', '1')
    expect(talk.say('EXEC')).toBe('')
    expect(talk.isBroken).toBe(true)
    expect(talk.session.hasEnded).toBe(true)
    expect(sandbox.store.run('MGET', 'first', 'last')).toEqual(['1', '1'])
  })

  test('are limited by the work of one request in a transaction', () => {
    const sandbox = sandboxOfTest({ policy: { maxWork: 100_000 } })
    const talk = new Talk(sandbox)
    talk.say('MULTI')
    for (let count = 0; count < 5; count++) talk.say('EVAL', 'for i=1,30000 do end return 1', '0')
    talk.say('SET', 'last', '1')
    const answer = talk.say('EXEC')
    expect(answer).toContain(':1\r\n')
    expect(answer).toContain('-ERR Error running script: Script killed')
    expect(sandbox.store.run('GET', 'last')).toBe('1')
  })

  test('are an error for CLIENT LIST that would exceed the maximum reply', () => {
    const sandbox = sandboxOfTest({ policy: { maxRequestSize: 2_000 } })
    const talks = Array.from({ length: 4 }, () => new Talk(sandbox))
    expect(talks[0]!.say('CLIENT', 'LIST')).toMatch(/^\$\d+\r\nid=1 /)
    for (const talk of talks) talk.say('CLIENT', 'SETNAME', 'n'.repeat(700))
    expect(talks[0]!.say('CLIENT', 'LIST')).toMatch(/^-ERR max request size exceeded. Limit: 2000 bytes/)
  })

  test('disconnect a monitor for a command that is too long to show', () => {
    const sandbox = sandboxOfTest({ policy: { maxRequestSize: 60_000_000 } })
    const talk = new Talk(sandbox)
    talk.say('MONITOR')
    sandbox.store.run('ECHO', '\0'.repeat(1_000))
    expect(talk.isBroken).toBe(false)
    sandbox.store.run('STRLEN', megabytes(33))
    expect(talk.isBroken).toBe(true)
  })
})

// ---- socket -----------------------------------------------------------------------------------------------------

/** Socket whose other end reads nothing unless requested. */
class Deaf implements Socket {
  written: Bytes[] = []
  readonly shared: Shared[] = []
  backlog = 0
  taken = 0
  isDestroyed = false
  isPaused = false
  readonly due: (() => void)[] = []
  readonly #taken: (() => void)[] = []
  readonly wire: RespConnection

  constructor(sandbox: Sandbox, crowd?: Crowd, { isStranger = false } = {}) {
    const textOf = (bytes: Uint8Array, from: number, to: number) => fromArray(bytes.subarray(from, to))
    this.wire = new RespConnection(porterOf(sandbox), this, 'there:1', textOf, crowd)
    if (!isStranger) this.wire.welcome(homeOf(sandbox), 'default')
  }

  say(text: string): this {
    this.wire.receive(toArray(latin1(text)))
    return this
  }

  write(bytes: Bytes): void {
    this.written.push(bytes)
    this.backlog += bytes.length
  }

  share(shared: Shared, done: () => void): void {
    this.shared.push(shared)
    this.backlog += shared.bytes.length
    this.#taken.push(done)
  }

  /** Makes the other end read everything. */
  take(): this {
    this.taken += this.backlog
    this.backlog = 0
    for (const done of this.#taken.splice(0)) done()
    this.wire.settle()
    return this
  }

  /** Runs the deferred callbacks. */
  goOn(): void {
    for (const run of this.due.splice(0)) run()
  }

  end(): void {}

  destroy(): void {
    this.isDestroyed = true
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  soon(run: () => void): void {
    this.due.push(run)
  }

  turn(_group: unknown, run: () => void): void {
    run()
  }

  later(_group: unknown, run: () => void): void {
    this.due.push(run)
  }

  after(_milliseconds: number, run: () => void): void {
    this.due.push(run)
  }
}

describe('turns of connections', () => {
  const replies = (socket: Deaf): number => socket.written.join('').split('\r\n').length - 1

  test('last for 256 trivial commands', () => {
    const socket = new Deaf(sandboxOfTest()).say('PING\r\n'.repeat(600))
    expect(replies(socket)).toBe(256)
    socket.goOn()
    expect(replies(socket)).toBe(512)
    socket.goOn()
    expect(replies(socket)).toBe(600)
    expect(socket.due).toEqual([])
  })

  test.each([
    ['a script', 'EVAL "for i=1,20000 do end return 1" 0\r\n'],
    ['a large set', 'SUNIONSTORE to large\r\n'],
    ['a list of clients', 'CLIENT LIST\r\n'],
  ])('last for one command of %s, then the other connections have their turn', (_, command) => {
    const sandbox = sandboxOfTest()
    sandbox.store.run('SADD', 'large', ...Array.from({ length: 15_000 }, (_, at) => `m${at}`))
    const others = command.startsWith('CLIENT') ? Array.from({ length: 130 }, () => new Deaf(sandbox)) : []
    const socket = new Deaf(sandbox)
    socket.say(`${command.repeat(3)}ECHO end\r\n`)
    const ends = (): number => socket.written.length
    expect(ends()).toBe(1)
    socket.goOn()
    expect(ends()).toBe(2)
    socket.take()
    socket.goOn()
    socket.goOn()
    expect(socket.written.join('')).toContain('$3\r\nend\r\n')
    for (const other of others) other.wire.close()
  })
})

describe('output that is not read', () => {
  test('a message is held once for all readers', () => {
    const sandbox = sandboxOfTest()
    const buffered = new Account(10_000_000)
    const crowd = new Crowd(buffered)
    const readers = Array.from({ length: 20 }, () => new Deaf(sandbox, crowd).say('SUBSCRIBE c\r\n').take())
    const before = buffered.held
    sandbox.store.run('PUBLISH', 'c', megabytes(2))
    expect(new Set(readers.flatMap(({ shared }) => shared)).size).toBe(1)
    expect(buffered.held - before).toBeGreaterThan(2_097_152)
    expect(buffered.held - before).toBeLessThan(2_200_000)
    for (const reader of readers.slice(1)) reader.take()
    expect(buffered.held).toBeGreaterThan(2_097_152)
    readers[0]!.take()
    expect(buffered.held).toBe(before)
  })

  test('a reader that is behind is disconnected before it exceeds the limit of redis-server', async () => {
    const sandbox = sandboxOfTest()
    const reader = new Deaf(sandbox).say('SUBSCRIBE c\r\n').take()
    for (let count = 0; count < 3; count++) {
      sandbox.store.run('PUBLISH', 'c', megabytes(9))
      await hostPause()
    }
    expect(reader.shared).toHaveLength(3)
    sandbox.store.run('PUBLISH', 'c', megabytes(9))
    expect(reader.shared).toHaveLength(3)
    reader.goOn()
    expect(reader.isDestroyed).toBe(true)
    expect(sandbox.store.run('PUBLISH', 'c', 'x')).toBe(0)
  })

  test('a reader that had read everything gets all messages of one turn, as long as they fit', () => {
    const sandbox = sandboxOfTest()
    const crowd = new Crowd(new Account(100_000_000))
    const reader = new Deaf(sandbox, crowd).say('SUBSCRIBE c\r\n').take()
    for (let count = 0; count < 10; count++) sandbox.store.run('PUBLISH', 'c', megabytes(9))
    expect(reader.shared).toHaveLength(10)
    sandbox.store.run('PUBLISH', 'c', megabytes(9))
    reader.goOn()
    expect(reader.isDestroyed).toBe(true)
  })

  test('a reader with 8 MiB pending for a host minute is disconnected, one that had less in between is not', () => {
    const sandbox = sandboxOfTest()
    const [slow, slower] = [0, 1].map(() => new Deaf(sandbox).say('SUBSCRIBE c\r\n').take()) as [Deaf, Deaf]
    sandbox.store.run('PUBLISH', 'c', megabytes(9))
    slow.take()
    sandbox.store.run('PUBLISH', 'c', 'x'.repeat(5_000))
    for (const reader of [slow, slower]) {
      reader.goOn()
      reader.goOn()
    }
    expect([slow.isDestroyed, slower.isDestroyed]).toEqual([false, true])
  })

  test('a message is not longer than redis-server sends', () => {
    const sandbox = sandboxOfTest()
    const reader = new Deaf(sandbox).say('SUBSCRIBE c\r\n').take()
    sandbox.store.run('PUBLISH', 'c', megabytes(32))
    expect(reader.shared).toEqual([])
    reader.goOn()
    expect(reader.isDestroyed).toBe(true)
  })

  test('beyond the shared limit, the largest holders are disconnected, and active readers stay', () => {
    const sandbox = sandboxOfTest()
    sandbox.store.run('SET', 'large', 'x'.repeat(300_000))
    const buffered = new Account(1_000_000)
    const crowd = new Crowd(buffered)
    const keen = new Deaf(sandbox, crowd)
    const greedy = Array.from({ length: 3 }, (_, at) => new Deaf(sandbox, crowd).say('GET large\r\n'.repeat(at + 1)))
    expect(buffered.held).toBeLessThanOrEqual(1_000_000)
    for (let count = 0; count < 3; count++) keen.take().say('GET large\r\n')
    expect(keen.isDestroyed).toBe(false)
    expect(greedy.filter(({ isDestroyed }) => isDestroyed).length).toBeGreaterThan(0)
    expect(buffered.held).toBeLessThanOrEqual(1_000_000)
    for (const { wire } of [keen, ...greedy]) wire.close()
    expect(buffered.held).toBe(0)
  })

  test('output before QUIT counts until it is read', () => {
    const sandbox = sandboxOfTest()
    sandbox.store.run('SET', 'large', 'x'.repeat(300_000))
    const buffered = new Account(500_000)
    const crowd = new Crowd(buffered)
    const gone = new Deaf(sandbox, crowd).say('GET large\r\nQUIT\r\n')
    expect(buffered.held).toBeGreaterThan(300_000)
    new Deaf(sandbox, crowd).say('GET large\r\n'.repeat(2))
    expect(gone.isDestroyed || buffered.held <= 500_000).toBe(true)
    gone.wire.close()
  })

  test('a connection that waits for EXEC counts toward the shared limit', () => {
    const sandbox = sandboxOfTest()
    const buffered = new Account(100_000)
    const socket = new Deaf(sandbox, new Crowd(buffered)).say('MULTI\r\n')
    for (let count = 0; count < 3; count++) socket.say(`SET k ${'x'.repeat(30_000)}\r\n`)
    expect(buffered.held).toBeGreaterThan(90_000)
    socket.say(`SET k ${'x'.repeat(30_000)}\r\n`)
    expect(socket.isDestroyed).toBe(true)
    expect(buffered.held).toBe(0)
  })
})

describe('a client that has not signed in', () => {
  const word = `$16000\r\n${'x'.repeat(16_000)}\r\n`

  test('keeps no bytes of a command that is longer than signing in needs', () => {
    const buffered = new Account(1_000_000)
    const socket = new Deaf(sandboxOfTest(), new Crowd(buffered), { isStranger: true })
    socket.say(`*10\r\n${word.repeat(9)}$16000\r\nx`)
    expect(buffered.held).toBeLessThan(1_000)
    socket.say(`${'x'.repeat(15_999)}\r\n`)
    expect(socket.written.join('')).toBe('-NOAUTH Authentication required.\r\n')
  })

  test('keeps less than 35 KB of one argument, of a line, and of many commands', () => {
    for (const bytes of [
      `*2\r\n$4\r\nAUTH\r\n$16000\r\n${'x'.repeat(15_999)}`,
      'x'.repeat(16_000),
      'PING\r\n'.repeat(5_000),
    ]) {
      const buffered = new Account(1_000_000)
      const socket = new Deaf(sandboxOfTest(), new Crowd(buffered), { isStranger: true })
      for (let at = 0; at < bytes.length && !socket.isPaused; at += 1_000) socket.say(bytes.slice(at, at + 1_000))
      expect(buffered.held).toBeLessThan(35_000)
      expect(buffered.held).toBeGreaterThan(10_000)
      socket.wire.close()
      expect(buffered.held).toBe(0)
    }
  })

  test('gets an early error for a line without end', () => {
    const socket = new Deaf(sandboxOfTest(), undefined, { isStranger: true }).say('x'.repeat(16_385))
    expect(socket.written.join('')).toBe('-ERR Protocol error: too big inline request\r\n')
  })
})
