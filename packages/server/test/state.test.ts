import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/sandbox.js'
import { type ServerOptions, type StuntdoubleServer, startServer } from '../src/server.js'
import { readState, StateFileError, writeState } from '../src/state/state-file.js'

let place: string
let path: string
const running: StuntdoubleServer[] = []

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'stuntdouble-state-'))
  path = join(place, 'state.json')
})
afterEach(async () => {
  for (const server of running.splice(0)) await server.close()
  rmSync(place, { recursive: true, force: true })
})

const start = async (options: ServerOptions = {}): Promise<StuntdoubleServer> => {
  const server = await startServer({
    port: 0,
    clock: 'manual',
    startAt: '2030-01-01T09:00:00Z',
    state: path,
    ...options,
  })
  running.push(server)
  return server
}

describe('a server with a state file', () => {
  test('continues every tenant after a restart', async () => {
    const first = await start()
    for (const name of ['w1', 'w2']) {
      const { store, queue, clock } = first.tenant(name)
      store.run('SET', 'who', name, 'EX', 7200)
      queue.publish({ to: 'https://shop.test/later', body: name, delay: '2h' })
      await clock.advance('1h')
    }
    await first.close()
    const second = await start()
    expect(second.tenants).toEqual(['w1', 'w2'])
    for (const name of ['w1', 'w2']) {
      const { store, queue, clock, destinations } = second.tenant(name)
      expect(clock.now()).toBe(Date.parse('2030-01-01T10:00:00Z'))
      expect([store.get('who'), store.run('TTL', 'who')]).toEqual([name, 3600])
      expect(queue.messages).toMatchObject([{ body: name }])
      const recorder = destinations.record('https://shop.test/later')
      await clock.advance('1h')
      expect(recorder.last().text()).toBe(name)
    }
  })

  test('keeps every database, and rejects the file if the server has others', async () => {
    const first = await start({ databases: ['eu', 'us'] })
    first.tenant('w1').storeIn('us').run('SET', 'who', 'us', 'EX', 7200)
    await first.close()
    const second = await start({ databases: ['us', 'eu'] })
    const { storeIn, store } = second.tenant('w1')
    expect([storeIn('us').get('who'), storeIn('eu').get('who'), store.get('who')]).toEqual(['us', null, null])
    storeIn('us').run('SET', 'who', 'again')
    await second.close()
    const bytes = readFileSync(path, 'utf8')
    expect(bytes).toContain('again')
    await expect(start()).rejects.toThrow(/other added databases \(.*us.*databases: \["/)
    expect(readFileSync(path, 'utf8')).toBe(bytes)
  })

  test('keeps workflow runs with their waits and timeouts', async () => {
    const first = await start()
    const { urls, tokens, workflow, queue } = first.tenant('w1')
    const url = 'https://app.test/run'
    const headers = {
      authorization: `Bearer ${tokens.queue}`,
      'service-workflow-runid': 'wfr_1',
      'service-workflow-url': url,
    }
    const init = { ...headers, 'service-workflow-init': 'true' }
    await fetch(`${urls.queue}/v2/publish/${url}`, { method: 'POST', headers: init, body: '{}' })
    const step = { stepId: 1, stepName: 'approval', stepType: 'Wait', concurrent: 1 }
    const body = JSON.stringify({ url, timeout: '2h', timeoutUrl: url, timeoutHeaders: {}, step })
    await fetch(`${urls.queue}/v2/wait/approved`, { method: 'POST', headers, body })
    expect([workflow.runs.length, queue.messages.length]).toEqual([1, 1])
    await first.close()
    const second = await start()
    const { clock, destinations } = second.tenant('w1')
    const recorder = destinations.record(url, { status: 200, headers: { 'service-workflow-sdk-version': '1' } })
    await clock.advance('2h')
    expect(second.tenant('w1').workflow.getRun('wfr_1').state).toBe('RUN_STARTED')
    const [, timedOut] = JSON.parse(recorder.last().text()) as { body: string }[]
    expect(JSON.parse(Buffer.from(timedOut!.body, 'base64').toString())).toEqual({
      ...step,
      waitEventId: 'approved',
      waitTimeout: true,
    })
  })

  test('saves while it runs, not only at its end', async () => {
    const server = await start()
    server.tenant('main').store.run('SET', 'k', 'v')
    await expect.poll(() => Object.keys(readState(path))).toEqual(['main'])
    expect(JSON.stringify(readState(path).main!.store)).toContain('"k"')
  })

  test('continues at the current time with a real clock, and delivers what was due meanwhile', async () => {
    const hourAgo = Date.now() - 3_600_000
    const world = createSandbox({ startAt: hourAgo })
    world.queue.publish({ to: 'https://shop.test/later', delay: '20m' })
    await writeState(path, { main: world.dump() })
    const server = await startServer({ port: 0, clock: 'real', state: path })
    running.push(server)
    const { clock, destinations } = server.tenant('main')
    expect(clock.now()).toBeGreaterThanOrEqual(hourAgo + 3_600_000)
    const recorder = destinations.record('https://shop.test/later')
    await expect.poll(() => recorder.count).toBe(1)
  })

  test('rejects a state from the future with a real clock, unless it may rebase it', async () => {
    const world = createSandbox({ startAt: Date.now() + 3_600_000 })
    world.store.run('SET', 'k', 'v', 'EX', '60')
    await writeState(path, { main: world.dump() })
    const ahead = startServer({ port: 0, clock: 'real', state: path })
    await expect(ahead).rejects.toThrow(StateFileError)
    await expect(ahead).rejects.toThrow(/from the future.*dump .*Z.*real clock .*Z.*--rebase-time/)
    const server = await startServer({ port: 0, clock: 'real', state: path, rebaseTime: true })
    running.push(server)
    const { clock, store } = server.tenant('main')
    expect(clock.now()).toBeLessThanOrEqual(Date.now())
    expect(Number(store.run('TTL', 'k'))).toBeGreaterThan(50)
  })

  test('reports a failed write, and continues', async () => {
    const reported: string[] = []
    const server = await start({ state: join(place, 'nowhere', 'state.json'), onError: (text) => reported.push(text) })
    server.tenant('main').store.run('SET', 'k', 'v')
    await expect.poll(() => reported.join()).toContain('the state could not be saved')
    expect(server.tenant('main').store.get('k')).toBe('v')
  })
})

describe('two servers with one state file', () => {
  test('reject the second one until the first has ended', async () => {
    const first = await start()
    symlinkSync(path, join(place, 'link.json'))
    for (const state of [path, join(place, '.', 'state.json'), join(place, 'link.json')]) {
      await expect(start({ state })).rejects.toThrow(StateFileError)
      await expect(start({ state })).rejects.toThrow('used by another server')
    }
    const other = await start({ state: join(place, 'other.json') })
    expect(other.tenants).toEqual([])
    await first.close()
    await expect(start()).resolves.toBeDefined()
  })

  test('release the lock when a start fails', async () => {
    writeFileSync(path, 'no state')
    await expect(start()).rejects.toThrow('is not a state file')
    rmSync(path)
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    await expect(start({ port })).rejects.toThrow(`${port} is already in use on localhost`)
    taken.close()
    await expect(start()).resolves.toBeDefined()
  })

  test('keep a link to the file', async () => {
    const link = join(place, 'link.json')
    await writeState(path, {})
    symlinkSync(path, link)
    const server = await start({ state: link })
    server.tenant('main').store.run('SET', 'k', 'v')
    await server.close()
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(Object.keys(readState(path))).toEqual(['main'])
  })
})

describe('a file that cannot be used is rejected and not changed', () => {
  const sealed = (body: string): Buffer => {
    const sha256 = createHash('sha256').update(body).digest('hex')
    const head = { format: 'stuntdouble-state', version: 1, bytes: Buffer.byteLength(body), sha256 }
    return Buffer.from(`${JSON.stringify(head)}\n${body}`)
  }
  const dump = createSandbox({ startAt: '2030-01-01T09:00:00Z' }).dump()

  test.each([
    ['null', 'contains no tenants'],
    ['[]', 'contains no tenants'],
    ['{', 'contains no tenants'],
    ['{"main":null}', 'tenant main: This is not a dump of a sandbox'],
    [JSON.stringify({ '../x': dump }), 'is not a valid tenant name'],
    [
      JSON.stringify({ get: dump }),
      '"get" is not a valid tenant name: a name must not be a command or path of the store',
    ],
    [JSON.stringify({ main: { ...dump, now: 9e15 } }), 'tenant main: This is not a dump of a sandbox'],
    [JSON.stringify({ w1: dump, w2: dump, w3: dump }), 'The server has 2 tenants'],
    [
      JSON.stringify({
        w1: dump,
        w2: { ...dump, access: { ...dump.access, users: [{ name: 'default', rules: [] }] } },
      }),
      'tenant w2: The users of the dump',
    ],
  ])('with a valid checksum over %.40s', async (body, sentence) => {
    const content = sealed(body)
    writeFileSync(path, content)
    const probe = createServer()
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
    const { port } = probe.address() as { port: number }
    await new Promise((resolve) => probe.close(resolve))
    const begun = startServer({ port, clock: 'manual', state: path, limits: { maxTenants: 2 } })
    await expect(begun).rejects.toThrow(StateFileError)
    await expect(begun).rejects.toThrow(sentence)
    // Nothing listens, and the file is not locked.
    await expect(fetch(`http://127.0.0.1:${port}/_health`)).rejects.toThrow('fetch failed')
    expect(readFileSync(path).equals(content)).toBe(true)
    rmSync(path)
    await expect(start({ port })).resolves.toBeDefined()
  })

  const whole = async (): Promise<Buffer> => {
    await writeState(path, {})
    return readFileSync(path)
  }
  test.each([
    ['cut off', (content: Buffer) => content.subarray(0, -1), 'is damaged'],
    [
      'with one other byte',
      (content: Buffer) => Buffer.concat([content.subarray(0, -1), Buffer.from(' ')]),
      'is damaged',
    ],
    [
      'of another version',
      (content: Buffer) => Buffer.from(content.toString().replace('"version":1', '"version":9')),
      'must have format version 1 (got 9)',
    ],
    ['of another program', () => Buffer.from('{"users":[]}\n'), 'is not a state file'],
    ['empty', () => Buffer.alloc(0), 'is not a state file'],
    ['binary', () => Buffer.from([0, 255, 10, 1]), 'is not a state file'],
  ])('%s', async (_, change, sentence) => {
    const content = change(await whole())
    writeFileSync(path, content)
    await expect(start()).rejects.toThrow(StateFileError)
    await expect(start()).rejects.toThrow(sentence)
    expect(readFileSync(path).equals(content)).toBe(true)
  })

  test('a directory is rejected', async () => {
    await expect(start({ state: place })).rejects.toThrow('is a directory')
  })

  test.skipIf(process.platform === 'win32')('a pipe without a writer is rejected', async () => {
    execFileSync('mkfifo', [path])
    await expect(start()).rejects.toThrow(StateFileError)
  })
})
