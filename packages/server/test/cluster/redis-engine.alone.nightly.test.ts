import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../test/support/free-port.js'
import { findRedisServer } from '../../../../test/support/redis-server.js'
import { RespClient } from '../../../../test/support/resp.js'
import { type LuaScript, StoreUnreachable } from '../../src/cluster/cluster-store.js'
import { RedisEngine } from '../../src/cluster/redis-engine.js'
import { slotOfTag } from '../../src/redis-cluster/hash-slots.js'
import { type Engines, findValkeyServer, startEngines } from './engines.js'

const put: LuaScript = {
  keys: ['a', 'b'],
  source: "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('SET', KEYS[2], ARGV[2])",
}
const got: LuaScript = {
  keys: ['b'],
  source: "return { redis.call('GET', KEYS[1]), 7, { redis.call('GET', KEYS[1]), false } }",
}
const fails: LuaScript = { keys: ['a'], source: "return redis.error_reply('FENCE somebody else')" }
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const told: string[] = []
const open = (url: string): Promise<RedisEngine> =>
  RedisEngine.open({ urls: url.split(','), patience: 2_000, report: (text) => told.push(text) })

const programs = { redis: findRedisServer(), valkey: findValkeyServer() }

describe.each(Object.entries(programs))('%s', (_, program) => {
  describe.skipIf(program === undefined).each([1, 3])('%i masters', (masters) => {
    let engines: Engines
    let engine: RedisEngine
    beforeAll(async () => {
      engines = await startEngines({ program, masters })
      engine = await open(engines.url)
    })
    afterAll(async () => {
      engine?.close()
      await engines?.close()
    })

    test('run scripts on the server of their keys, and keep bytes unchanged', async () => {
      expect(engine.masters).toHaveLength(masters)
      for (let index = 0; index < 30; index++) {
        expect(await engine.run(put, `tenant-${index}`, ['x', everyByte])).toBe('OK')
        const bytes = Buffer.from(everyByte)
        expect(await engine.run(got, `tenant-${index}`, [])).toEqual([bytes, 7, [bytes, null]])
      }
    })

    test('have the same hash slot for a tag, and hold the key under the expected name', async () => {
      await engine.run(put, 'w-ä', ['x', 'y'])
      const clients = await Promise.all(engines.ports.map((port) => RespClient.connect(port)))
      const key = Buffer.from('stuntdouble:{w-ä}:b').toString('latin1')
      const replies = await Promise.all(clients.map((client) => client.send(['GET', key])))
      if (masters > 1) {
        expect(await clients[0]!.send(['CLUSTER', 'KEYSLOT', key])).toEqual({ integer: String(slotOfTag('w-ä')) })
      }
      for (const client of clients) client.close()
      expect(replies).toContainEqual({ bulk: 'y' })
    })

    test('return an error of a script as an error, and not as an unavailable Redis', async () => {
      const failed = await engine.run(fails, 'w1', []).catch((error: unknown) => error)
      expect(failed).not.toBeInstanceOf(StoreUnreachable)
      expect((failed as Error).message).toBe('FENCE somebody else')
    })

    test('return the settings of every server', async () => {
      const settings = await engine.settings(['appendonly', 'appendfsync'])
      expect(settings.map(({ value }) => value)).toEqual(engines.ports.flatMap(() => ['yes', 'always']))
    })
  })
})

describe.skipIf(programs.redis === undefined)('a Redis that fails', () => {
  test('a killed master is unavailable, the others are not, and after a restart it has its data', async () => {
    const engines = await startEngines()
    const engine = await open(engines.url)
    try {
      const tags = Array.from({ length: 12 }, (_, index) => `t${index}`)
      for (const tag of tags) await engine.run(put, tag, ['x', tag])
      const ofFirst = tags.filter((tag) => slotOfTag(tag) < 16_384 / 3)
      expect(ofFirst.length).toBeGreaterThan(0)
      await engines.kill(0)
      for (const tag of tags) {
        const reply = await engine.run(got, tag, []).catch((error: unknown) => error)
        if (ofFirst.includes(tag)) expect(reply).toBeInstanceOf(StoreUnreachable)
        else expect(reply).toEqual([Buffer.from(tag), 7, [Buffer.from(tag), null]])
      }
      await engines.restart(0)
      for (const tag of ofFirst)
        expect(await patiently(() => engine.run(got, tag, []))).toMatchObject([Buffer.from(tag), 7, {}])
      expect(told.join('\n')).toMatch(
        new RegExp(`127\\.0\\.0\\.1:${engines.ports[0]} is unavailable: .*\\n.*available again`),
      )
    } finally {
      engine.close()
      await engines.close()
    }
  })

  test('a moved hash slot is followed', async () => {
    const engines = await startEngines({ masters: 2 })
    const engine = await open(engines.url)
    const [one, two] = await Promise.all(engines.ports.map((port) => RespClient.connect(port)))
    try {
      await engine.run(put, 't1', ['x', 'y'])
      const slot = String(slotOfTag('t1'))
      const isFirst = slotOfTag('t1') < 8_192
      const [from, to] = isFirst ? [one!, two!] : [two!, one!]
      const ids = await Promise.all(
        [from, to].map(async (client) => (await client.send(['CLUSTER', 'MYID'])) as { bulk: string }),
      )
      await to.send(['CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0]!.bulk])
      await from.send(['CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1]!.bulk])
      const port = engines.ports[isFirst ? 1 : 0]!
      const move = [
        'MIGRATE',
        '127.0.0.1',
        String(port),
        '',
        '0',
        '5000',
        'KEYS',
        'stuntdouble:{t1}:a',
        'stuntdouble:{t1}:b',
      ]
      expect(await from.send(move)).toEqual({ status: 'OK' })
      expect(await engine.run(got, 't1', [])).toMatchObject([Buffer.from('y'), 7, {}])
      for (const client of [to, from]) await client.send(['CLUSTER', 'SETSLOT', slot, 'NODE', ids[1]!.bulk])
      expect(await engine.run(got, 't1', [])).toMatchObject([Buffer.from('y'), 7, {}])
    } finally {
      one!.close()
      two!.close()
      engine.close()
      await engines.close()
    }
  })

  test('a password is required, and no message contains it', async () => {
    const engines = await startEngines({ masters: 1, more: ['--requirepass', 'opensesame'] })
    const [port] = engines.ports
    try {
      const wrong = await open(`redis://:closedsesame@127.0.0.1:${port}`).catch((error: Error) => error)
      expect((wrong as Error).message).toMatch(/WRONGPASS/)
      expect((wrong as Error).message).not.toContain('sesame')
      const engine = await open(`redis://:opensesame@127.0.0.1:${port}`)
      expect(await engine.run(put, 't1', ['x', 'y'])).toBe('OK')
      engine.close()
    } finally {
      await engines.close()
    }
  })

  test('TLS works with a trusted certificate', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-tls-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    execFileSync(
      'openssl',
      [
        ...words,
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost,IP:127.0.0.1',
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    )
    const port = await freePort()
    const more = [
      '--tls-port',
      String(port),
      '--tls-cert-file',
      cert,
      '--tls-key-file',
      key,
      '--tls-ca-cert-file',
      cert,
      '--tls-auth-clients',
      'no',
    ]
    const engines = await startEngines({ masters: 1, more })
    try {
      const untrusted = await open(`rediss://127.0.0.1:${port}`).catch((error: Error) => error)
      expect((untrusted as Error).message).toMatch(/self-signed/)
      const program = `import { RedisEngine } from '${new URL('../../src/cluster/redis-engine.ts', import.meta.url).pathname}'
        const engine = await RedisEngine.open({ urls: ['rediss://127.0.0.1:${port}'], patience: 5000, report() {} })
        console.log(await engine.run({ keys: ['a'], source: "return redis.call('SET', KEYS[1], 'x')" }, 't', []))
        engine.close()`
      const loader = new URL('../../../../test/support/typescript-sources.mjs', import.meta.url).pathname
      const args = [
        '--experimental-transform-types',
        '--disable-warning=ExperimentalWarning',
        '--import',
        loader,
        '--input-type=module',
        '-e',
        program,
      ]
      const out = execFileSync(process.execPath, args, { env: { ...process.env, NODE_EXTRA_CA_CERTS: cert } })
      expect(out.toString()).toBe('OK\n')
      expect(readFileSync(key, 'utf8')).toContain('PRIVATE')
    } finally {
      await engines.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('a Redis that accepts connections but never replies is unavailable after the timeout', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const opened = await RedisEngine.open({
      urls: [`redis://127.0.0.1:${port}`],
      patience: 200,
      report: () => undefined,
    }).catch((error: unknown) => error)
    silent.close()
    expect(opened).toBeInstanceOf(StoreUnreachable)
  })

  test.each([
    ['http://127.0.0.1:6379', /redis:\/\/:PASSWORD/],
    ['redis://127.0.0.1:6379/3', /database 0/],
    ['127.0.0.1:6379', /redis:\/\/:PASSWORD/],
  ])('%s is rejected', async (url, sentence) => {
    const refused = await open(url).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TypeError)
    expect((refused as Error).message).toMatch(sentence)
  })
})

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 200) throw error
      await wait(50)
    }
  }
}
