import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../../test/support/free-port.js'
import { type Entry, tgz } from './tar.js'

// The program as `npm run protocol:drift` starts it, with a registry in this process.

const root = new URL('../../../../', import.meta.url).pathname
const documents = new URL('../documents/', import.meta.url).pathname
let folder: string
let registry: Server
let archive: Uint8Array = new Uint8Array()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stuntdouble-registry-'))
  registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      response.end(archive)
      return
    }
    const tarball = `http://${request.headers.host}/lock-9.9.9.tgz`
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`
    const version = { name: '@upstash/lock', version: '9.9.9', dist: { tarball, integrity } }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ name: '@upstash/lock', 'dist-tags': { latest: '9.9.9' }, versions: { '9.9.9': version } }),
    )
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
})

afterAll(() => {
  registry.close()
  rmSync(folder, { recursive: true })
})

interface Ran {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

function run(args: readonly string[], port = (registry.address() as AddressInfo).port): Promise<Ran> {
  const loader = './test/support/typescript-sources.mjs'
  const options = ['--experimental-transform-types', '--disable-warning=ExperimentalWarning', '--import', loader]
  const child = spawn(process.execPath, [...options, 'packages/drift/src/protocol/protocol-drift.ts', ...args], {
    cwd: root,
    env: {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(folder, 'cache'),
      npm_config_userconfig: join(folder, 'npmrc'),
    },
  })
  const ran = { output: '', errors: '' }
  child.stdout.on('data', (chunk) => {
    ran.output += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    ran.errors += String(chunk)
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...ran })))
}

const manifest = (more: object = {}): Entry => ({
  path: 'package/package.json',
  content: JSON.stringify({ name: '@upstash/lock', version: '9.9.9', ...more }),
})

// Each test starts the program, which loads the sources of the services.
describe('npm run protocol:drift', () => {
  test('without a network: exit code 2 and one line', async () => {
    const { code, output, errors } = await run([], await freePort())
    expect(code).toBe(2)
    expect(output).toBe('')
    expect(errors).toBe(
      'protocol:drift: npm could not fetch the packages (ECONNREFUSED): check the network and the registry of npm.\n',
    )
  })

  test('reports what is new, and runs no script of the package', async () => {
    const marker = join(folder, 'was-run')
    const touch = `node -e "require('fs').writeFileSync('${marker}', '')"`
    archive = tgz([
      manifest({ scripts: { preinstall: touch, install: touch, postinstall: touch, prepack: touch, prepare: touch } }),
      {
        path: 'package/index.js',
        content: `require('fs').writeFileSync('${marker}', '')
class A extends Command { constructor(c) { super(["LOCK.NEW", ...c]) } }`,
      },
    ])
    const { code, output, errors } = await run(['@upstash/lock', '--json'])
    expect(errors).toBe('')
    expect(code).toBe(1)
    const report = JSON.parse(output) as Record<'sources' | 'rows' | 'stale', readonly Record<string, unknown>[]>
    expect(report.sources).toEqual([{ name: '@upstash/lock', version: '9.9.9', recorded: '0.2.1' }])
    expect(report.rows).toContainEqual({
      from: 'lock',
      change: 'new',
      kind: 'command',
      name: 'LOCK.NEW',
      after: '',
      source: 'lock/index.js:2',
    })
    expect(report.rows.map(({ change }) => change)).toContain('gone')
    expect(report.stale).toEqual([])
    expect(existsSync(marker)).toBe(false)
  })

  test.each<[string, readonly Entry[], RegExp]>([
    ['a path outside', [manifest(), { path: 'package/../../../escaped.js' }], /leaves the folder/],
    ['a link', [manifest(), { path: 'package/link', type: '2', linkName: '/etc/passwd' }], /is not a file or a folder/],
    ['a manifest that is not JSON', [{ path: 'package/package.json', content: '{' }], /JSON/],
  ])('rejects an archive with %s: exit code 2 and one line', async (_what, entries, message) => {
    archive = tgz(entries)
    const { code, output, errors } = await run(['@upstash/lock'])
    expect({ code, output }).toEqual({ code: 2, output: '' })
    expect(errors).toMatch(/^protocol:drift: upstash-lock-9\.9\.9\.tgz: .*\n$/)
    expect(errors).toMatch(message)
  })

  test('compares two states of a documentation', async () => {
    archive = tgz([manifest()])
    const docs = ['--docs', join(documents, 'after'), '--since', join(documents, 'before')]
    const { code, output } = await run(['@upstash/lock', ...docs])
    expect(code).toBe(1)
    expect(output).toContain(
      'changed parameter: DELETE /v2/messages count\n  was: integer, default 100\n  is:  deprecated, integer, default 100\n  qstash/openapi.yaml:',
    )
    expect(output).toMatch(/\n\d+ new, \d+ changed, \d+ gone, \d+ explained, 0 stale\n$/)
  })

  test.each<[string, readonly string[], RegExp]>([
    ['an unknown package', ['left-pad'], /"left-pad" is not one of @upstash\/redis/],
    ['an option in place of a package', ['--', '--registry=x'], /is not one of/],
    ['--since alone', ['--since', '.'], /--since needs --docs/],
  ])('rejects %s', async (_what, args, message) => {
    const { code, errors } = await run(args)
    expect(code).toBe(2)
    expect(errors).toMatch(message)
  })

  test('rejects documents that cannot be parsed', async () => {
    archive = tgz([manifest()])
    writeFileSync(join(folder, 'openapi.yaml'), 'openapi: 3.1.0\na: [')
    const { code, errors } = await run(['@upstash/lock', '--docs', folder])
    expect(code).toBe(2)
    expect(errors).toMatch(/^protocol:drift: openapi\.yaml cannot be parsed: .*\n$/)
  })

  test('shows its options', async () => {
    const { code, output } = await run(['--help'])
    expect(code).toBe(0)
    expect(output).toContain('--docs DIR')
  })
})
