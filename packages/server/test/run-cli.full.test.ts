import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSandbox } from 'stuntdouble'
import { startServer } from 'stuntdouble/server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toHtml } from '../../../src/report/html.js'
import { run, started, startedWith } from './command-line.js'

// Each test starts programs, which is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** A command that represents a program in another language. */
const node = (source: string): string[] => [process.execPath, '-e', source]
const store = (env: string): string => `process.env[Object.keys(process.env).find((name) => name.endsWith('${env}'))]`
const command = (words: string): string =>
  `fetch(${store('REST_URL')}, { method: 'POST', headers: { authorization: 'Bearer ' + ${store('REST_TOKEN')} }, body: JSON.stringify(${words}) })`

describe('run', () => {
  test('run gives a command the environment of a server, and prints only the output of the command', async () => {
    const source = `${command("['SET','greeting','hello']")}
      .then(() => ${command("['GET','greeting']")}).then((answer) => answer.text()).then(console.log)`
    expect(await run('run', '--dialect', 'upstash', '--', ...node(source))).toEqual({
      code: 0,
      out: '{"result":"hello"}\n',
      err: '',
    })
  })

  test.each([0, 1, 7, 200])('run returns exit code %i of its command', async (code) => {
    expect((await run('run', '--', ...node(`process.exit(${code})`))).code).toBe(code)
  })

  test('run returns 128 plus the number of the signal that killed its command', async () => {
    expect((await run('run', '--', ...node("process.kill(process.pid, 'SIGKILL')"))).code).toBe(137)
  })

  test('run prints the timeline when the command fails, and only then', async () => {
    const source = (code: number) => `${command("['SET','greeting','hello']")}.then(() => process.exit(${code}))`
    const failed = await run('run', '--dialect', 'upstash', '--clock', 'manual', '--', ...node(source(3)))
    expect([failed.code, failed.out]).toEqual([3, ''])
    expect(failed.err).toMatch(/^\nstuntdouble, tenant main: \d entries\n\n2030-01-01\n.*SET greeting hello/s)
    expect((await run('run', '--dialect', 'upstash', '--', ...node(source(0)))).err).toBe('')
  })

  test('run prints that the timeline begins at the last reset', async () => {
    const set = (key: string): string => command(`['SET','${key}','x']`)
    const reset = "fetch(process.env.STUNTDOUBLE_CONTROL_URL + '/reset', { method: 'POST' })"
    const source = (code: number): string =>
      `${set('first')}.then(() => ${reset}).then(() => ${set('second')}).then(() => process.exit(${code}))`
    const failed = await run('run', '--clock', 'manual', '--', ...node(source(3)))
    expect(failed.err).toMatch(/^\nstuntdouble, tenant main: \d entries .*reset.*SET second x/s)
    expect(failed.err).not.toContain('first')
    expect((await run('run', '--clock', 'manual', '--', ...node(source(0)))).err).toBe('')
  })

  test('run takes options up to the command, with and without --', async () => {
    const show = node('console.log(JSON.stringify(process.argv.slice(1)))')
    for (const between of [['--'], []]) {
      expect(await run('run', '--seed', '7', ...between, ...show, '--', '--seed', '-q', '--help')).toMatchObject({
        code: 0,
        out: '["--seed","-q","--help"]\n',
      })
    }
    expect((await run('run', '--help')).out).toContain('stuntdouble run -- pytest -q')
  })

  test('run lets a command move time over the control API', async () => {
    const source = `fetch(process.env.STUNTDOUBLE_CONTROL_URL + '/clock/advance', { method: 'POST', body: '{"by":"5m"}' })
      .then(() => fetch(process.env.STUNTDOUBLE_CONTROL_URL + '/clock')).then((answer) => answer.text()).then(console.log)`
    const { out } = await run('run', '--clock', 'manual', '--tenant', 'w1', '--', ...node(source))
    expect(out).toContain('2030-01-01T00:05:00.000Z')
  })

  test('run starts with a shipped scenario', async () => {
    const source =
      "fetch(process.env.STUNTDOUBLE_CONTROL_URL + '/faults').then((answer) => answer.text()).then(console.log)"
    const { out } = await run('run', '--clock', 'manual', '--scenario', 'lost-acknowledgements', '--', ...node(source))
    expect(out).toContain('lost-ack')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'run forwards %s to the command, which decides how to end',
    async (signal) => {
      const { child, ended, printed } = started(
        'run',
        '--',
        ...node(`process.on('${signal}', () => process.exit(5)); setInterval(() => {}, 1000); console.log('waits')`),
      )
      await printed(/waits/)
      child.kill(signal)
      expect(await ended).toMatchObject({ code: 5 })
    },
  )

  describe.skipIf(process.platform === 'win32')('run ends all child processes of the command', () => {
    /** Returns a shell with a child that would outlive it, and that prints the ID of the child. */
    const family = (rest: string, child = 'sleep 600'): string[] => ['sh', '-c', `${child} & echo child $!; ${rest}`]
    const childIn = (out: string): number => Number(/child (\d+)/.exec(out)![1])
    const isThere = (pid: number): boolean => {
      try {
        // A process that has ended and was not yet reaped is still listed.
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    }

    test.each([0, 7])('when it ends with %i', async (code) => {
      const ended = await run('run', '--', ...family(`exit ${code}`))
      expect(ended.code).toBe(code)
      expect(isThere(childIn(ended.out))).toBe(false)
    })

    test.each([
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
      ['SIGQUIT', 131],
    ] as const)('on %s, and returns %i', async (signal, code) => {
      // Shells make background children ignore SIGINT and SIGQUIT, so these are ended after their parent.
      const { child, ended, printed } = started('run', '--', ...family('exec sleep 600'))
      await printed(/child \d+/)
      child.kill(signal)
      const { code: given, out } = await ended
      expect(given).toBe(code)
      expect(isThere(childIn(out))).toBe(false)
    })

    test('even if they ignore signals', async () => {
      const { out, code } = await run('run', '--', ...family('exit 3', "(trap '' TERM INT HUP; sleep 600)"))
      expect(code).toBe(3)
      expect(isThere(childIn(out))).toBe(false)
    })

    test('even if run itself is killed', async () => {
      // A response of the server shows that run has started the command completely; an earlier SIGKILL would be too
      // early.
      const leader = `fetch(process.env.STUNTDOUBLE_CONTROL_URL + '/clock').then(() => console.log('leader ' + process.pid)); setInterval(() => {}, 1000)`
      const { child, ended, printed } = started('run', '--', ...family('exec "$0" -e "$1"'), process.execPath, leader)
      await printed(/leader \d+/)
      child.kill('SIGKILL')
      const { out } = await ended
      const pids = [childIn(out), Number(/leader (\d+)/.exec(out)![1])]
      await expect.poll(() => pids.filter(isThere), { timeout: 10_000 }).toEqual([])
    })

    test('but no other process, and no process that has left the group on purpose', async () => {
      const neighbor = spawn('sleep', ['600'])
      onTestFinished(() => void neighbor.kill('SIGKILL'))
      const daemon = `const { spawn } = require('node:child_process'); const it = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }); it.unref(); console.log('child ' + it.pid)`
      const { out } = await run('run', '--', ...node(daemon))
      onTestFinished(() => void process.kill(childIn(out), 'SIGKILL'))
      expect([isThere(childIn(out)), isThere(neighbor.pid!)]).toEqual([true, true])
    })

    test('run forwards SIGTSTP and SIGCONT', async () => {
      const { child, ended, printed } = started('run', '--', ...family('exec sleep 600'))
      const pid = childIn(await printed(/child \d+/))
      const stateOf = (of: number): string | undefined =>
        /^State:\s+(\w)/m.exec(readFileSync(`/proc/${of}/status`, 'utf8'))?.[1]
      child.kill('SIGTSTP')
      await expect.poll(() => [stateOf(pid), stateOf(child.pid!)]).toEqual(['T', 'T'])
      child.kill('SIGCONT')
      await expect.poll(() => stateOf(pid)).toBe('S')
      child.kill('SIGTERM')
      expect((await ended).code).toBe(143)
    })

    test('run forwards SIGWINCH each time', async () => {
      const source = `let heard = 0; process.on('SIGWINCH', () => console.log('size ' + ++heard)); process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('waits')`
      const { child, ended, printed } = started('run', '--', ...node(source))
      await printed(/waits/)
      for (const size of [1, 2]) {
        child.kill('SIGWINCH')
        await printed(new RegExp(`size ${size}`))
      }
      child.kill('SIGTERM')
      expect((await ended).code).toBe(7)
    })

    test('run forwards a signal that arrives twice as one', async () => {
      const source = `let heard = 0; process.on('SIGINT', () => heard++); setTimeout(() => process.exit(heard), 1500); console.log('waits')`
      const { child, ended, printed } = started('run', '--', ...node(source))
      await printed(/waits/)
      child.kill('SIGINT')
      await new Promise((resolve) => setTimeout(resolve, 20))
      child.kill('SIGINT')
      expect((await ended).code).toBe(1)
    })
  })

  test('run can run twice at the same time', async () => {
    const both = await Promise.all(
      [1, 2].map(() => run('run', '--', ...node('console.log(process.env.STUNTDOUBLE_CONTROL_URL)'))),
    )
    expect(new Set(both.map(({ out }) => out)).size).toBe(2)
    expect(both.map(({ code }) => code)).toEqual([0, 0])
  })

  test.each([
    [['--', 'no-such-command-here'], /no-such-command-here cannot be started: the command was not found/],
    [[], /run: an argument is missing\. Write stuntdouble run .*-- COMMAND/],
    [['--'], /run: an argument is missing/],
    [['--sede', '1', '--', 'true'], /no option --sede\. Did you mean --seed\?/],
    [['--tenant', '_x', '--', 'true'], /a name must consist of letters/],
    [['--scenario', 'lost-acknowledgement', '--', 'true'], /Did you mean "lost-acknowledgements"\?/],
  ])('run rejects %j with one message', async (args, sentence) => {
    const { code, err } = await run('run', ...args)
    expect(code).toBe(2)
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test('run reports a port that is in use', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const { code, err } = await run('run', '--port', String(port), '--', 'true')
    expect([code, err]).toMatchObject([2, expect.stringContaining(`${port} is already in use on localhost`)])
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

  test('creates the page of a trace from standard input', async () => {
    expect(await given(trace)).toEqual({ code: 0, out: toHtml(trace), err: '' })
    expect((await given(trace, '-', '--title', 'Order 4711')).out).toBe(toHtml(trace, { title: 'Order 4711' }))
  })

  test.each([
    ['{}', /^stuntdouble: standard input: .*"stuntdouble\/trace"/],
    ['[]', /^stuntdouble: standard input: .*"format"/],
    ['null', /^stuntdouble: standard input: .*"format"/],
    ['nonsense', /^stuntdouble: standard input: .*JSON/],
    ['\n', /^stuntdouble: standard input: .*empty\.$/m],
    ['', /^stuntdouble: standard input: .*empty\.$/m],
  ])('rejects the input %j with one message', async (input, sentence) => {
    const { code, out, err } = await given(input)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
  })
})

describe('play', () => {
  test('finds the shipped scenarios by name', async () => {
    const { code, out } = await run('play', 'lost-acknowledgements')
    expect(out).toContain('lost')
    expect(code).toBe(0)
  })

  test('reports that nothing listens', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    await new Promise((resolve) => other.close(resolve))
    const { err } = await run('play', 'lost-acknowledgements', '--to', `http://127.0.0.1:${port}`)
    expect(err).toMatch(new RegExp(`^stuntdouble: --to: nothing listens .*http://127\\.0\\.0\\.1:${port}\\b.*\n$`))
  })
})

describe('tail', () => {
  test('tail reports an unknown tenant without creating it', async () => {
    await using server = await startServer({ port: 0, clock: 'manual' })
    server.tenant('checkout')
    for (const [name, meant] of [
      ['chekout', ' Did you mean "checkout"\\?'],
      ['w9', ''],
    ]) {
      expect(await run('tail', '--once', '--url', server.origin, '--tenant', name!)).toEqual({
        code: 2,
        out: '',
        err: expect.stringMatching(
          new RegExp(`^stuntdouble: .*${server.origin} has no tenant "${name}"\\.${meant} Its tenants: checkout\\.\n$`),
        ),
      })
    }
    expect(server.tenants).toEqual(['checkout'])
    expect((await run('tail', '--once', '--url', server.origin, '--tenant', 'checkout')).code).toBe(0)
  })
})
