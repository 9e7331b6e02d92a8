import { createServer } from 'node:net'
import { createSandbox } from 'stuntdouble'
import { startServer } from 'stuntdouble/server'
import { describe, expect, test, vi } from 'vitest'
import { toHtml } from '../../src/report/html.js'
import { run, started, startedWith } from './command-line.js'

// Each test starts programs; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** A command of another language than ours, as far as it goes. */
const node = (source: string): string[] => [process.execPath, '-e', source]
const store = (env: string): string => `process.env[Object.keys(process.env).find((name) => name.endsWith('${env}'))]`
const command = (words: string): string =>
  `fetch(${store('REST_URL')}, { method: 'POST', headers: { authorization: 'Bearer ' + ${store('REST_TOKEN')} }, body: JSON.stringify(${words}) })`

describe('run', () => {
  test('a command has the environment of a server, and its output is that of the command', async () => {
    const source = `${command("['SET','greeting','hello']")}
      .then(() => ${command("['GET','greeting']")}).then((answer) => answer.text()).then(console.log)`
    expect(await run('run', '--vocabulary', 'upstash', '--', ...node(source))).toEqual({
      code: 0,
      out: '{"result":"hello"}\n',
      err: '',
    })
  })

  test.each([0, 1, 7, 200])('the exit code %i is handed on', async (code) => {
    expect((await run('run', '--', ...node(`process.exit(${code})`))).code).toBe(code)
  })

  test('a command that was killed ends as shells tell it', async () => {
    expect((await run('run', '--', ...node("process.kill(process.pid, 'SIGKILL')"))).code).toBe(137)
  })

  test('the timeline is told when it fails, and only then', async () => {
    const source = (code: number) => `${command("['SET','greeting','hello']")}.then(() => process.exit(${code}))`
    const failed = await run('run', '--vocabulary', 'upstash', '--clock', 'manual', '--', ...node(source(3)))
    expect([failed.code, failed.out]).toEqual([3, ''])
    expect(failed.err).toMatch(/^\nstuntdouble, tenant main: \d entries\n\n2030-01-01\n.*SET greeting hello/s)
    expect((await run('run', '--vocabulary', 'upstash', '--', ...node(source(0)))).err).toBe('')
  })

  test('the timeline says that it begins at the last reset, if there was one', async () => {
    const set = (key: string): string => command(`['SET','${key}','x']`)
    const reset = "fetch(process.env.STUNTDOUBLE_CONTROL + '/reset', { method: 'POST' })"
    const source = (code: number): string =>
      `${set('first')}.then(() => ${reset}).then(() => ${set('second')}).then(() => process.exit(${code}))`
    const failed = await run('run', '--clock', 'manual', '--', ...node(source(3)))
    expect(failed.err).toMatch(/^\nstuntdouble, tenant main: \d entries since the last reset.*SET second x/s)
    expect(failed.err).not.toContain('first')
    expect((await run('run', '--clock', 'manual', '--', ...node(source(0)))).err).toBe('')
  })

  test('its own options end with the command, with or without --', async () => {
    const show = node('console.log(JSON.stringify(process.argv.slice(1)))')
    for (const between of [['--'], []]) {
      expect(await run('run', '--seed', '7', ...between, ...show, '--', '--seed', '-q', '--help')).toMatchObject({
        code: 0,
        out: '["--seed","-q","--help"]\n',
      })
    }
    expect((await run('run', '--help')).out).toContain('stuntdouble run -- pytest -q')
  })

  test('a command can move time over the control API', async () => {
    const source = `fetch(process.env.STUNTDOUBLE_CONTROL + '/clock/advance', { method: 'POST', body: '{"by":"5m"}' })
      .then(() => fetch(process.env.STUNTDOUBLE_CONTROL + '/clock')).then((answer) => answer.text()).then(console.log)`
    const { out } = await run('run', '--clock', 'manual', '--tenant', 'w1', '--', ...node(source))
    expect(out).toContain('2030-01-01T00:05:00.000Z')
  })

  test('begins as a shipped scenario says', async () => {
    const source =
      "fetch(process.env.STUNTDOUBLE_CONTROL + '/faults').then((answer) => answer.text()).then(console.log)"
    const { out } = await run('run', '--clock', 'manual', '--scenario', 'lost-acknowledgements', '--', ...node(source))
    expect(out).toContain('lost-ack')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s goes to the command, which decides', async (signal) => {
    const { child, ended, printed } = started(
      'run',
      '--',
      ...node(`process.on('${signal}', () => process.exit(5)); setInterval(() => {}, 1000); console.log('waits')`),
    )
    await printed(/waits/)
    child.kill(signal)
    expect(await ended).toMatchObject({ code: 5 })
  })

  test('two run at once', async () => {
    const both = await Promise.all(
      [1, 2].map(() => run('run', '--', ...node('console.log(process.env.STUNTDOUBLE_CONTROL)'))),
    )
    expect(new Set(both.map(({ out }) => out)).size).toBe(2)
    expect(both.map(({ code }) => code)).toEqual([0, 0])
  })

  test.each([
    [['--', 'no-such-command-here'], /no-such-command-here cannot be started\. There is no such command/],
    [[], /run is written: stuntdouble run -- COMMAND/],
    [['--'], /run is written/],
    [['--sede', '1', '--', 'true'], /There is no option --sede\. Did you mean --seed\?/],
    [['--tenant', '_x', '--', 'true'], /cannot be the name of a tenant/],
    [['--scenario', 'lost-acknowledgement', '--', 'true'], /Did you mean "lost-acknowledgements"\?/],
  ])('%j is one sentence', async (args, sentence) => {
    const { code, err } = await run('run', ...args)
    expect(code).toBe(2)
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('a port that is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const { code, err } = await run('run', '--port', String(port), '--', 'true')
    expect([code, err]).toMatchObject([2, expect.stringContaining(`Port ${port} of localhost is taken`)])
    other.close()
  })
})

describe('report', () => {
  const sandbox = createSandbox({ seed: 7 })
  sandbox.store.run('SET', 'greeting', 'hello')
  const trace = JSON.stringify(sandbox.traffic)
  const given = async (input: string, ...args: string[]) => {
    const { child, ended } = startedWith('pipe', 'report', ...args)
    child.stdin!.end(input)
    return ended
  }

  test('makes the page of a trace on the standard input', async () => {
    expect(await given(trace)).toEqual({ code: 0, out: toHtml(trace), err: '' })
    expect((await given(trace, '-', '--title', 'Order 4711')).out).toBe(toHtml(trace, { title: 'Order 4711' }))
  })

  test.each([
    ['{}', /^stuntdouble: the standard input: This is not a trace: it has no "format": "stuntdouble\/trace"\. traffic/],
    ['[]', /^stuntdouble: the standard input: This is not a trace: it has no "format"/],
    ['null', /^stuntdouble: the standard input: This is not a trace: it has no "format"/],
    ['nonsense', /^stuntdouble: the standard input: This is not a trace, which is JSON: /],
    ['\n', /^stuntdouble: the standard input: This is not a trace: it is empty\.$/m],
    ['', /^stuntdouble: the standard input: This is not a trace: it is empty\.$/m],
  ])('%j is one sentence', async (input, sentence) => {
    const { code, out, err } = await given(input)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
  })
})

describe('play', () => {
  test('knows the shipped scenarios by name', async () => {
    const { code, out } = await run('play', 'lost-acknowledgements')
    expect(out).toContain('lost')
    expect(code).toBe(0)
  })

  test('says that nothing listens', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    await new Promise((resolve) => other.close(resolve))
    const { err } = await run('play', 'lost-acknowledgements', '--to', `http://127.0.0.1:${port}`)
    expect(err).toBe(
      `stuntdouble: Nothing listens at http://127.0.0.1:${port}: start the application first, or name another address with --to.\n`,
    )
  })
})

describe('tail', () => {
  test('a tenant that nobody has used is told, and not made', async () => {
    await using server = await startServer({ port: 0, clock: 'manual' })
    server.tenant('checkout')
    for (const [name, meant] of [
      ['chekout', ' Did you mean "checkout"?'],
      ['w9', ''],
    ]) {
      expect(await run('tail', '--once', '--url', server.origin, '--tenant', name!)).toEqual({
        code: 2,
        out: '',
        err: `stuntdouble: The server at ${server.origin} has no tenant "${name}".${meant} It has checkout.\n`,
      })
    }
    expect(server.tenants).toEqual(['checkout'])
    expect((await run('tail', '--once', '--url', server.origin, '--tenant', 'checkout')).code).toBe(0)
  })
})
