import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../../../src/index.js'
import { openRedisSocket } from '../../src/redis-port/in-process.js'
import { served } from './served.js'

// Peers at the Redis port that have not signed in, or use another protocol.

interface Peer {
  readonly socket: Socket
  readonly heard: () => string
  readonly isClosed: () => boolean
}

function peer(to: number | string, bytes = ''): Peer {
  const socket = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to)
  let heard = ''
  socket.on('data', (chunk) => (heard += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write(Buffer.from(bytes, 'latin1'))
  onTestFinished(() => void socket.destroy())
  return { socket, heard: () => heard, isClosed: () => socket.closed }
}

const soon = { interval: 2, timeout: 5_000 }
/** Less than the time in which an unauthorized client may be silent. */
const closes = ({ isClosed }: Peer): Promise<unknown> => expect.poll(isClosed, soon).toBe(true)

async function privateSocket() {
  const sandbox = createSandbox()
  onTestFinished(() => sandbox.dispose())
  const { path, close } = await openRedisSocket(sandbox)
  onTestFinished(close)
  return { sandbox, path }
}

describe('TLS on a port without a certificate', () => {
  test('is closed immediately, and reported once', async () => {
    const told: string[] = []
    const server = await served({ onError: (text) => told.push(text) })
    const { store } = server.tenant('main').tokens
    const other = peer(server.redisPort!, `AUTH ${store}\r\n`)
    for (let number = 0; number < 3; number++) {
      const failed = await new Promise<Error>((resolve) => {
        connectTls({ port: server.redisPort!, host: '127.0.0.1', rejectUnauthorized: false }).on('error', resolve)
      })
      expect(failed).toMatchObject({ code: 'ECONNRESET' })
    }
    expect(told).toEqual([expect.stringMatching(/TLS.*--redis-cert/)])
    other.socket.write('ECHO still-here\r\n')
    await expect.poll(other.heard, soon).toContain('still-here')
  })

  test.each([
    ['its first byte', '\x16'],
    ['a handshake with line breaks', '\x16\x03\x01\x02\x00\r\nPING\r\n'],
    ['a handshake behind a command', 'PING\r\n\x16\x03\x01'],
  ])('%s closes a connection, also one that is signed in', async (_, bytes) => {
    const { path } = await privateSocket()
    const signedIn = peer(path, bytes)
    await closes(signedIn)
    expect(signedIn.heard().replaceAll('+PONG\r\n', '')).toBe('')
  })

  test('a value that begins with that byte is accepted', async () => {
    const { path, sandbox } = await privateSocket()
    const { heard } = peer(path, '*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\x16\x03\r\n')
    await expect.poll(heard, soon).toBe('+OK\r\n')
    expect(sandbox.store.get('k')).toBe('\x16\x03')
  })
})

describe('HTTP', () => {
  test.each([
    'Host:127.0.0.1:6379',
    'Host: 127.0.0.1:6379',
    'host:x',
    'hOST:x',
    'HOST:',
    '  Host:x',
    'GET / HTTP/1.1\r\nHost:x',
    'post / HTTP/1.1',
    'POST',
    '*1\r\n$6\r\nHost:x',
    'MULTI\r\nhost:x',
    'SUBSCRIBE c\r\nhost:x',
  ])('%j closes the connection, and the following command does not run', async (line) => {
    const { path, sandbox } = await privateSocket()
    await closes(peer(path, `${line}\r\nSET planted 1\r\n`))
    expect(sandbox.store.get('planted')).toBe(null)
    const server = await served()
    const stranger = peer(
      server.redisPort!,
      `${line}\r\nAUTH ${server.tenant('main').tokens.store}\r\nSET planted 1\r\n`,
    )
    await closes(stranger)
    expect(stranger.heard()).not.toContain('+OK')
    expect(server.tenant('main').store.get('planted')).toBe(null)
  })

  test.each(['GET host:1', 'HOST x', 'HOSTS:x', 'ECHO Host:x', 'POSTS'])(
    '%s does not close the connection',
    async (line) => {
      const { path } = await privateSocket()
      const { heard } = peer(path, `${line}\r\nECHO still-here\r\n`)
      await expect.poll(heard, soon).toContain('still-here')
    },
  )
})

describe('wrong passwords', () => {
  const wrong = /-WRONGPASS/g
  const failures = ({ heard }: Peer): number => [...heard().matchAll(wrong)].length
  const forms = ['AUTH no', 'AUTH default no', 'HELLO 3 AUTH default no', 'hello 2 auth w9/default no']
  const guesses = (count: number): string =>
    Array.from({ length: count }, (_, index) => `${forms[index % forms.length]}\r\n`).join('')

  test('are delayed after the tenth on one connection only, and the right one still signs in', async () => {
    const server = await served()
    const { store } = server.tenant('main').tokens
    const guesser = peer(server.redisPort!, `${guesses(10)}RESET\r\nAUTH ${store}\r\nECHO entered\r\n`)
    await expect.poll(guesser.heard, soon).toContain('+RESET')
    expect(failures(guesser)).toBe(10)
    const other = peer(server.redisPort!, `AUTH no\r\nAUTH ${store}\r\nECHO still-here\r\n`)
    await expect.poll(other.heard, soon).toContain('still-here')
    // Its own next reply takes a second.
    expect(failures(guesser)).toBe(10)
    expect(guesser.heard()).not.toContain('+OK')
    await expect.poll(guesser.heard, soon).toMatch(/\+RESET\r\n\+OK\r\n\$7\r\nentered/)
  })

  test.each(forms)('are delayed in every form: %s', async (form) => {
    const server = await served()
    const guesser = peer(server.redisPort!, `${guesses(10)}${form}\r\n`)
    const other = peer(server.redisPort!, `AUTH ${server.tenant('main').tokens.store}\r\n`)
    await expect.poll(() => failures(guesser), soon).toBe(10)
    other.socket.write('ECHO still-here\r\n')
    await expect.poll(other.heard, soon).toContain('still-here')
    expect(failures(guesser)).toBe(10)
    // A peer that disconnects while it waits has no effect.
    guesser.socket.destroy()
  })

  test('get the error of a disposed sandbox if they still wait', async () => {
    const { path, sandbox } = await privateSocket()
    const guesser = peer(path, guesses(11))
    await expect.poll(() => failures(guesser), soon).toBe(10)
    sandbox.dispose()
    guesser.socket.write('PING\r\n')
    await expect.poll(() => guesser.heard().split('was disposed of').length, soon).toBe(3)
  })

  test('do not delay a right password before the tenth', async () => {
    const server = await served()
    const { store } = server.tenant('main').tokens
    const user = peer(server.redisPort!, `${guesses(9)}${`AUTH ${store}\r\n`.repeat(30)}ECHO done\r\n`)
    await expect.poll(user.heard, soon).toContain('done')
  })
})

describe('a tenant above the limit', () => {
  test('is reported only to a client with its token, by AUTH and by HELLO', async () => {
    const server = await served({ limits: { maxTenants: 1 } })
    server.tenant('main')
    const url = new URL(server.describeTenant('w2').env.REDIS_URL!)
    const user = `${decodeURIComponent(url.username)} ${decodeURIComponent(url.password)}`
    const { heard, socket } = peer(server.redisPort!, `AUTH ${user}\r\nHELLO 3 AUTH ${user}\r\n`.repeat(6))
    await expect.poll(() => heard().split('\r\n').length, soon).toBe(13)
    for (const line of heard().trim().split('\r\n')) expect(line).toMatch(/^-ERR The server has 1 tenants\b/)
    // Clients without the token must not learn about the limit.
    socket.write('AUTH w2/default no\r\n')
    await expect.poll(heard, soon).toContain('-WRONGPASS')
    expect(server.tenants).toEqual(['main'])
    server.drop('main')
    socket.write(`AUTH ${user}\r\n`)
    await expect.poll(heard, soon).toContain('+OK')
    expect(server.tenants).toEqual(['w2'])
  })
})
