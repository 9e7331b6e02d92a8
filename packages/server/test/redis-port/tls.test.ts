import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type StuntdoubleServer, startServer } from '../../src/server.js'

// The Redis port with a certificate accepts only TLS, as the service does.

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
if (!hasOpenssl)
  console.log('TLS of the Redis port: not run, because there is no openssl to create a certificate with.')

describe.skipIf(!hasOpenssl)('TLS', () => {
  let place: string
  let tls: { cert: Buffer; key: Buffer }
  const ends: (() => unknown)[] = []

  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'stuntdouble-tls-'))
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-days', '2']
    const files = ['-keyout', 'key.pem', '-out', 'cert.pem']
    const made = spawnSync('openssl', ['req', '-x509', ...curve, ...name, ...files], { cwd: place })
    expect(made.status).toBe(0)
    tls = { cert: readFileSync(join(place, 'cert.pem')), key: readFileSync(join(place, 'key.pem')) }
  })
  afterAll(() => rmSync(place, { recursive: true, force: true }))
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function served(): Promise<StuntdoubleServer> {
    const server = await startServer({ port: 0, redisPort: 0, redisTls: tls, clock: 'manual' })
    ends.push(() => server.close())
    return server
  }

  async function worksWith(server: StuntdoubleServer): Promise<void> {
    const url = server.tenant('main').env.REDIS_URL!
    expect(url).toMatch(/^rediss:/)
    const redis = new Redis(url, { tls: { ca: tls.cert }, maxRetriesPerRequest: 0, retryStrategy: () => null })
    redis.on('error', () => undefined)
    ends.push(() => redis.disconnect())
    const pipeline = redis.pipeline()
    for (let at = 0; at < 2_000; at++) pipeline.set(`key:${at}`, 'x'.repeat(at))
    await pipeline.exec()
    expect(await redis.get('key:1999')).toBe('x'.repeat(1_999))
    redis.disconnect()
  }

  /** Returns what a peer without TLS receives until it is closed. */
  function heard(port: number, bytes: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'))
      let got = ''
      socket.on('data', (chunk) => {
        got += chunk.toString('latin1')
      })
      socket.on('error', () => undefined)
      socket.on('close', () => resolve(got))
    })
  }

  test('serves a client that trusts the certificate', async () => {
    await worksWith(await served())
  })

  test('closes connections without TLS without a reply, and serves the others', async () => {
    const server = await served()
    for (const bytes of ['PING\r\n', '*1\r\n$4\r\nPING\r\n', '\x16\x03\x01\x00\x05hello', '\0'.repeat(70_000)]) {
      expect(await heard(server.redisPort!, bytes)).not.toMatch(/PONG|ERR|NOAUTH/)
    }
    await worksWith(server)
  })

  test('closes although peers never complete the handshake', async () => {
    const server = await startServer({ port: 0, redisPort: 0, redisTls: tls, clock: 'manual' })
    const silent = Array.from({ length: 20 }, () => {
      const socket = connect(server.redisPort!, '127.0.0.1')
      socket.on('error', () => undefined)
      return socket
    })
    ends.push(() => silent.map((socket) => socket.destroy()))
    await worksWith(server)
    const start = performance.now()
    await server.close({ grace: 200 })
    expect(performance.now() - start).toBeLessThan(3_000)
  })

  test('closes a peer that never completes the handshake after the timeout', async () => {
    const limits = { requestTimeout: 300 }
    const server = await startServer({ port: 0, redisPort: 0, redisTls: tls, clock: 'manual', limits })
    ends.push(() => server.close())
    expect(await heard(server.redisPort!, '')).toBe('')
  })

  test('rejects an invalid certificate or key', async () => {
    const wrong = { cert: 'no certificate', key: tls.key }
    await expect(startServer({ port: 0, redisPort: 0, redisTls: wrong })).rejects.toThrow(/redisTls .*PEM/)
  })
})
