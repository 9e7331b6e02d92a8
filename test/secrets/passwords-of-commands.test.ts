import type { Duplex } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import '../../matchers/vitest.js'
import { shadowDifferenceText } from '../../packages/server/src/real-redis/shadow.js'
import { ioredisConnector } from '../../packages/server/src/redis-port/in-process.js'
import { agentAtServer } from '../../packages/server/test/mcp-client.js'
import { createSandbox, type Sandbox } from '../../src/index.js'
import { toHtml } from '../../src/report/index.js'
import { Redaction } from '../../src/report/redaction.js'
import { passwordWords } from '../../src/secrets/command-secrets.js'
import { failureOf } from '../matchers/failure.js'
import { runs } from '../support/effort.js'
import { EventReader } from '../support/event-reader.js'

// A password in a command appears in no rendering, regardless of the transport and of missing or misspelled arguments.
// Forms of the commands: redis.io, ACL SETUSER, AUTH, HELLO, MIGRATE, CONFIG SET; store.md 6.3 for tokens.

type Form = (password: string) => readonly string[]

const forms: Readonly<Record<string, Form>> = {
  'a password': (pw) => ['ACL', 'SETUSER', 'u', 'on', `>${pw}`],
  'in lower case': (pw) => ['acl', 'setuser', 'u', `>${pw}`],
  'without the mark': (pw) => ['ACL', 'SETUSER', 'u', 'on', pw],
  'without the user': (pw) => ['ACL', 'SETUSER', `>${pw}`],
  'behind a rule that is refused': (pw) => ['ACL', 'SETUSER', 'u', 'foo', `>${pw}`],
  'of which there are many rules': (pw) => ['ACL', 'SETUSER', 'u', ...Array.from({ length: 80 }, () => '~a'), pw],
  'taken away': (pw) => ['ACL', 'SETUSER', 'u', `<${pw}`],
  'as a hash': (pw) => ['ACL', 'SETUSER', 'u', `#${pw}`],
  'as a hash taken away': (pw) => ['ACL', 'SETUSER', 'u', `!${pw}`],
  'behind a space': (pw) => ['ACL', 'SETUSER', 'u', ` >${pw}`],
  'in a selector': (pw) => ['ACL', 'SETUSER', 'u', `(~a >${pw})`],
  'in a selector of many words': (pw) => ['ACL', 'SETUSER', 'u', '(~a', `>${pw})`],
  'in a selector, without the mark': (pw) => ['ACL', 'SETUSER', 'u', '(~a', pw, '+get)'],
  'in a selector without an end': (pw) => ['ACL', 'SETUSER', 'u', '(~a', ` >${pw}`],
  'of the user that stays': (pw) => ['ACL', 'SETUSER', 'default', `>${pw}`],
  'of a misspelled subcommand': (pw) => ['ACL', 'SETUSR', 'u', `>${pw}`],
  'of a name that is one word': (pw) => ['ACL SETUSER', 'u', `>${pw}`],
  'of a command that is one word': (pw) => [`AUTH ${pw}`],
  GENTOKEN: (pw) => ['ACL', 'GENTOKEN', 'u', pw],
  'GENTOKEN with a word too many': (pw) => ['ACL', 'GENTOKEN', 'u', 'ser', pw],
  RESTTOKEN: (pw) => ['ACL', 'RESTTOKEN', 'u', pw],
  'DRYRUN of SETUSER': (pw) => ['ACL', 'DRYRUN', 'default', 'ACL', 'SETUSER', 'u', `>${pw}`],
  'DRYRUN of GENTOKEN': (pw) => ['ACL', 'DRYRUN', 'default', 'ACL', 'GENTOKEN', 'u', pw],
  'DRYRUN of AUTH': (pw) => ['ACL', 'DRYRUN', 'default', 'AUTH', pw],
  'GETKEYS of AUTH': (pw) => ['COMMAND', 'GETKEYS', 'AUTH', pw],
  'GETKEYSANDFLAGS of SETUSER': (pw) => ['command', 'getkeysandflags', 'ACL', 'SETUSER', 'u', pw],
  AUTH: (pw) => ['AUTH', pw],
  'AUTH of a user': (pw) => ['AUTH', 'u', pw],
  'AUTH with a word too many': (pw) => ['auth', 'u', 'ser', pw],
  HELLO: (pw) => ['HELLO', '3', 'AUTH', 'u', pw],
  'HELLO with a name': (pw) => ['HELLO', '3', 'SETNAME', 'me', 'AUTH', 'u', pw, 'MORE'],
  'HELLO without a user': (pw) => ['hello', '3', 'auth', pw],
  'HELLO without AUTH': (pw) => ['HELLO', '3', 'u', pw],
  'HELLO without a version': (pw) => ['HELLO', 'AUTH', 'u', pw],
  'HELLO with nothing but it': (pw) => ['HELLO', pw],
  MIGRATE: (pw) => ['MIGRATE', 'h', '1', 'k', '0', '1', 'AUTH', pw],
  'MIGRATE of a user': (pw) => ['MIGRATE', 'h', '1', 'k', '0', '1', 'AUTH2', 'u', pw],
  'CONFIG SET': (pw) => ['CONFIG', 'SET', 'requirepass', pw],
}

const literal = (word: string): string => `'${word.replace(/['\\]/g, '\\$&')}'`

/** A script that calls the command, with the password in its text or its arguments. */
const scripted: readonly ((argv: readonly string[]) => readonly string[])[] = [
  (argv) => ['EVAL', `return redis.call(${argv.map(literal).join(', ')})`, '0'],
  (argv) => ['EVAL', `return redis.pcall("${argv[0]}", unpack(ARGV))`, '0', ...argv.slice(1)],
  (argv) => ['EVAL_RO', 'return redis.call(unpack(ARGV))', '0', ...argv],
  (argv) => ['EVALSHA', 'f'.repeat(40), '1', 'k', ...argv],
  // A script repeats its arguments in replies and in Lua errors.
  (argv) => ['EVAL', `redis.pcall("${argv[0]}", unpack(ARGV)) return {ARGV, ARGV[#ARGV]}`, '0', ...argv.slice(1)],
  (argv) => ['EVAL', `redis.pcall(${argv.map(literal).join(', ')}) error(ARGV[1])`, '0', argv.at(-1)!],
  (argv) => ['EVAL', `redis.pcall(${argv.map(literal).join(' ')})`, '0'],
  (argv) => ['SCRIPT', 'LOAD', `redis.pcall(${argv.map(literal).join(' ')})`],
  (argv) => ['EVAL', `redis.pcall(${[...argv.map(literal), argv.at(-1)!.replace(/[^a-z0-9]/gi, '')].join(', ')})`, '0'],
  (argv) => ['SCRIPT', 'LOAD', `return redis.call( ${argv.map((word) => `[=[${word}]=]`).join(', ')} )`],
]

const escaped = (letter: string): string => `\\u00${letter.charCodeAt(0).toString(16)}`

const encoded = (argv: readonly string[]): string =>
  `*${argv.length}\r\n${argv.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`

/** A password that resembles nothing else, and characters that may surround its unmistakable part. */
const core = fc.stringMatching(/^Zq[a-z0-9]{14}$/)
const ending = fc.constantFrom('', '', 'é', '"', "'", ' x', '/a', '\\', '%41', '&b=c', '+', '中', ')')

/** Sends every form over every transport. The test closes the last connection. */
async function sendAll(sandbox: Sandbox, pw: string): Promise<{ readonly monitored: string }> {
  const { store, urls, tokens } = sandbox
  const ask = async (path: string, body?: string): Promise<void> => {
    const init = body === undefined ? {} : { method: 'POST', body }
    const answer = await sandbox.fetch(urls.store + path, {
      ...init,
      headers: { authorization: `Bearer ${tokens.store}` },
    })
    await answer.text()
  }
  const connect = async (): Promise<{ stream: Duplex; brought: () => string }> => {
    const stream: Duplex = await new (ioredisConnector(sandbox))({}).connect()
    let brought = ''
    stream.on('data', (chunk: Buffer) => (brought += chunk.toString('latin1')))
    return { stream, brought: () => brought }
  }
  const listener = await connect()
  listener.stream.write('MONITOR\r\n')
  const events = new EventReader(
    await sandbox.fetch(`${urls.store}/monitor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.store}`, accept: 'text/event-stream' },
    }),
  )
  const direct = (argv: readonly string[]): void => {
    try {
      store.run(...(argv as [string]))
    } catch {
      // The text is redis-server's, and only the caller receives it.
    }
  }
  const { stream, brought } = await connect()
  for (const form of Object.values(forms)) {
    const argv = form(pw)
    direct(argv)
    await ask('', JSON.stringify(argv))
    await ask('', JSON.stringify({ command: argv }))
    const words = argv.map(encodeURIComponent)
    await ask(`/${words.join('/')}`)
    await ask(`/${words.slice(0, -1).join('/')}`, argv.at(-1)!)
    await ask(`/${words.slice(0, 3).join('/')}?${words.slice(3).join('&')}=1&_token=${tokens.store}`)
    await ask(`/${words[0]}?${words.slice(1).join('&')}`)
    await ask('/pipeline', JSON.stringify([['GET', 'a'], argv]))
    await ask('', JSON.stringify(argv).replace(/[A-Z]/i, escaped))
    await ask('/multi-exec', JSON.stringify([argv]).replace(/[A-Z]/gi, escaped))
    await ask('/multi-exec', JSON.stringify([['GET', 'a'], argv]))
    stream.write(encoded(argv))
    stream.write(encoded(['MULTI']) + encoded(argv) + encoded(['EXEC']))
    const [first, second] = scripted
    stream.write(
      encoded(['MULTI']) + encoded(argv) + encoded(first!(argv)) + encoded(second!(argv)) + encoded(['EXEC']),
    )
    for (const script of scripted) {
      direct(script(argv))
      await ask('', JSON.stringify(script(argv)))
      stream.write(encoded(script(argv)))
    }
  }
  stream.write(encoded(['ECHO', 'all was sent']))
  await expect.poll(() => brought().includes('all was sent'), { interval: 2 }).toBe(true)
  await expect.poll(() => listener.brought().includes('all was sent'), { interval: 2 }).toBe(true)
  for (const one of [stream, listener.stream]) one.destroy()
  sandbox.dispose()
  return { monitored: listener.brought() + (await events.rest()).join('\n') }
}

test('no rendering shows a password in a command', async () => {
  const policies = fc.constantFrom('service', 'redis')
  await fc.assert(
    fc.asyncProperty(core, ending, policies, async (secret, end, aclRules) => {
      const sandbox = createSandbox({ seed: 7, onWarning: () => undefined, policy: { aclRules } })
      const { traffic, store } = sandbox
      const { monitored } = await sendAll(sandbox, secret + end)
      const told: Readonly<Record<string, string>> = {
        monitored,
        timeline: traffic.timeline(),
        diagram: traffic.diagram(),
        har: JSON.stringify(traffic.toHar()),
        trace: JSON.stringify(traffic.toTrace()),
        page: toHtml(traffic),
        command: failureOf(() => expect(store).toHaveExecuted('ACL', 'SETUSER', 'u', 'nothing')),
        request: failureOf(() => expect(sandbox).toHaveReceivedRequest({ method: 'PUT', body: ['x'] })),
        url: failureOf(() => expect(sandbox).toHaveReceivedRequest({ url: '/acl/none', response: { result: 'x' } })),
        step: failureOf(() =>
          expect(sandbox).toFollowSequence([{ type: 'command', argv: ['ACL', 'SETUSER', 'u', 'x'] }]),
        ),
        error: failureOf(() =>
          expect(sandbox).toFollowSequence([{ type: 'command', error: 'ERR Error in ACL SETUSER' }]),
        ),
        key: failureOf(() => expect(store).toHaveKey('none')),
        spent: failureOf(() => expect(sandbox).toHaveCost({ commands: 0 })),
        warnings: store.diagnostics.join('\n'),
      }
      for (const [name, text] of Object.entries(told)) {
        const at = text.toLowerCase().indexOf(secret.toLowerCase())
        expect(at === -1 ? '' : `${name}: ${text.slice(Math.max(0, at - 200), at + 60)}`).toBe('')
      }
      // The password is present, so that redaction is tested.
      expect(JSON.stringify(traffic.entries)).toContain(secret)
    }),
    { numRuns: runs(1, 6, 40), endOnFailure: true },
  )
})

test('agents see no password in their own requests and responses', async () => {
  await using agent = await agentAtServer({ onWarning: () => undefined } as never)
  const secret = 'Zqhunter0123456'
  const texts: string[] = []
  for (const form of Object.values(forms)) texts.push((await agent.call('run_command', { command: form(secret) })).text)
  for (const name of ['get_timeline', 'list_entries', 'get_diagram'])
    texts.push((await agent.call(name, { limit: 1000 })).text)
  for (const text of texts) expect(text).not.toContain(secret)
  expect(texts.length).toBeGreaterThan(30)
})

test.each([
  'ACL SETUSER u on off ~a %R~b & &c +get -@all allkeys RESETKEYS nopass resetpass reset clearselectors',
  'ACL SETUSER u (~a +get) (~b +set allchannels) sanitize-payload',
  'ACL GETUSER u',
  'ACL DRYRUN u GET k',
  'ACL GENTOKEN u',
  'HELLO 3 SETNAME me',
  'COMMAND GETKEYS MSET a 1 b 2',
  'CONFIG SET maxmemory 1',
  'CONFIG GET requirepass',
  "EVAL return{redis.call('HGET',KEYS[1],'auth')} 1 k",
  'SCRIPT EXISTS auth',
])('shows all arguments of %s', (line) => {
  expect([...passwordWords(line.split(' '))]).toEqual([])
})

test('redacts only the texts of commands in the reply of EXEC', () => {
  const redaction = new Redaction()
  expect(redaction.reply(['exec'], ['OK', 5, null, 'ERR Error in ACL SETUSER …', ['x']])).toEqual([
    'OK',
    5,
    null,
    '***',
    '***',
  ])
  expect(redaction.reply(['EXEC'], null)).toBe(null)
})

test('shows the error of a rejected ACL rule in a transaction without the password', async () => {
  const sandbox = createSandbox({ onWarning: () => undefined })
  const stream: Duplex = await new (ioredisConnector(sandbox))({}).connect()
  let brought = ''
  stream.on('data', (chunk: Buffer) => (brought += chunk.toString('latin1')))
  for (const argv of [['MULTI'], ['ACL', 'SETUSER', 'u', 'Zqhunter'], ['INCR', 'n'], ['EXEC']])
    stream.write(encoded(argv))
  // As in redis-server, the client that sent the password receives it in the error.
  await expect
    .poll(() => brought)
    .toContain("*2\r\n-ERR Error in ACL SETUSER modifier 'Zqhunter': Syntax error\r\n:1\r\n")
  stream.destroy()
  const commands = (sandbox.traffic.toTrace().entries as readonly Record<string, unknown>[]).filter(
    ({ type }) => type === 'command',
  )
  expect(commands.map(({ argv, reply, error }) => [(argv as string[]).join(' '), error ?? reply])).toEqual([
    ['MULTI', expect.anything()],
    ['ACL SETUSER u ***', "ERR Error in ACL SETUSER modifier '***': Syntax error"],
    ['INCR n', 1],
    ['EXEC', ['***', 1]],
  ])
})

test.each([
  [['EVAL', "redis.call('AUTH', 'Zqhunter')", '0'], { error: "ERR near ''Zqhunter''" }, { error: 'ERR a' }],
  [['EVAL', "redis.call('AUTH', ARGV[1])", '0', 'Zqhunter'], ['Zqhunter'], 'Zqhunter'],
  [['HSET', 'k', 'password', 'Zqhunter'], 1, 0],
  [['HGET', 'k', 'password'], 'Zqhunter', null],
  [['HGETALL', 'k'], ['password', 'Zqhunter'], []],
])('redacts the password in a difference from the shadow: %j', (argv, double, engine) => {
  const told = shadowDifferenceText({ argv, double, redis: engine, known: undefined })
  expect(told).not.toContain('Zqhunter')
  expect(told).toContain(argv[0])
})

test('shows a difference without a password unchanged', () => {
  const told = shadowDifferenceText({ argv: ['GET', 'k'], double: 'v', redis: { error: 'ERR w' }, known: undefined })
  expect(told.split('\n')).toEqual(['GET k', '  double "v"', '  redis  {"error":"ERR w"}', '  unknown'])
})
