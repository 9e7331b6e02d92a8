import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/index.js'
import { place, run, started, startedWith } from './command-line.js'

const file = join(place, 'a trace.json')
const hostile = '</script><img src=x onerror=alert(1)>'
const written = (): string => {
  using sandbox = createSandbox({ startAt: '2030-01-01T09:00:00Z', seed: 7 })
  sandbox.store.run('SET', hostile, 'hello')
  const text = JSON.stringify(sandbox.traffic)
  writeFileSync(file, text)
  return text
}

const html = { accept: 'text/html' }
const linkIn = (out: string): string => /^inspector {2}(http:\/\/\S+)$/m.exec(out)![1]!

const statusFor = (url: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { headers }, (answer) => answer.resume().on('end', () => resolve(answer.statusCode!)))
      .on('error', reject)
      .end()
  })

describe('open', () => {
  test('serves a trace on a free loopback port, and ends with Ctrl-C', async () => {
    written()
    const { ready, child, ended } = started('open', file)
    const link = linkIn(await ready)
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    const answer = await fetch(link, { headers: html })
    const page = await answer.text()
    expect(answer.headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/)
    expect(answer.headers.get('content-security-policy')).not.toMatch(/unsafe/)
    // The server also allows the scripts that the policy of the page allows, including that of the copy formats.
    const hashes = /script-src ([^;]+);/.exec(page)![1]!.split(' ')
    expect(hashes).toHaveLength(2)
    for (const hash of hashes) expect(answer.headers.get('content-security-policy')).toContain(hash)
    expect(page).toContain('id="recording"')
    expect(page).toContain('a trace.json')
    expect(page).toContain('hello')
    // Captured data is never markup.
    expect(page).not.toContain('<img')
    expect(await (await fetch(`${link}other`)).json()).toEqual({ error: expect.stringContaining('one page') })
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }, { origin: 'null' }]) {
      expect(await statusFor(link, headers as Record<string, string>)).toBe(403)
    }
    child.kill('SIGINT')
    expect(await ended).toMatchObject({ code: 0, err: '' })
    await expect(fetch(link)).rejects.toThrow()
  })

  test('shows the store changes of a trace', async () => {
    const changes = [{ seq: 1, at: 1_893_488_400_000, key: hostile, now: { type: 'string', value: 'as it was left' } }]
    writeFileSync(file, JSON.stringify({ ...JSON.parse(written()), changes }))
    const { ready, child, ended } = started('open', file)
    const page = await (await fetch(linkIn(await ready), { headers: html })).text()
    expect(page).toContain('as it was left')
    child.kill('SIGINT')
    await ended
    const { out } = await run('report', file)
    expect(out).toContain('as it was left')
  })

  test('reads a trace from standard input', async () => {
    const text = written()
    const { ready, child, ended } = startedWith('pipe', 'open', '--title', 'From a pipe')
    child.stdin!.end(text)
    const page = await (await fetch(linkIn(await ready), { headers: html })).text()
    expect(page).toContain('<title>From a pipe</title>')
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
  })

  test.each([
    ['nowhere.json', /nowhere\.json cannot be read\. The file does not exist\./],
    ['folder', /folder cannot be read\. It is a directory\./],
    ['text.json', /text\.json: This is not a valid trace: it must be JSON/],
    ['empty.json', /empty\.json: This is not a valid trace: it is empty\./],
    ['har.json', /har\.json: This is not a valid trace: .*Create one with traffic\.toTrace\(\)/],
    ['newer.json', /newer\.json: This trace has version 9, .* Use a newer version of the package\./],
  ])('rejects %s with one message', async (name, sentence) => {
    mkdirSync(join(place, 'folder'), { recursive: true })
    writeFileSync(join(place, 'text.json'), 'GET /')
    writeFileSync(join(place, 'empty.json'), '')
    writeFileSync(join(place, 'har.json'), '{"log":{"version":"1.2","entries":[]}}')
    writeFileSync(join(place, 'newer.json'), '{"format":"stuntdouble/trace","version":9,"entries":[]}')
    const { code, out, err } = await run('open', join(place, name))
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(sentence)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
  })

  test.each([
    [['--port', 'many'], /--port/],
    [['--port', '65536'], /--port/],
    [['one.json', 'two.json'], /at most 1 argument .*Write stuntdouble open \[OPTIONS\] \[TRACE\.json\]\./],
  ])('rejects %j', async (args, sentence) => {
    written()
    const { code, err } = await run('open', file, ...args)
    expect(code).toBe(2)
    expect(err).toMatch(sentence)
  })

  test('reports a port that is in use', async () => {
    written()
    const first = started('open', file)
    const { port } = new URL(linkIn(await first.ready))
    const { code, err } = await run('open', file, '--port', port)
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^stuntdouble: port \(--port\): \d+ is already in use on 127\.0\.0\.1/),
    ])
    first.child.kill('SIGINT')
    await first.ended
  })
})

describe('serve', () => {
  test('serve prints the link of the page, with a code in its fragment if there is a token', async () => {
    const free = started('serve', '--port', '0')
    const link = linkIn(await free.ready)
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await fetch(link, { headers: html })).headers.get('content-type')).toMatch(/^text\/html/)
    free.child.kill('SIGINT')
    await free.ended

    const kept = started('serve', '--port', '0', '--control-token', 'a-token-of-ours', '--log')
    const closed = linkIn(await kept.ready)
    expect(closed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{32}$/)
    expect((await fetch(closed, { headers: html })).status).toBe(200)
    await kept.printed(/"path":"\/"/)
    kept.child.kill('SIGINT')
    const { out } = await kept.ended
    // This is the line of the token. Neither the link nor the log contains it.
    expect(out.match(/a-token-of-ours/g)).toHaveLength(1)
  })
})
