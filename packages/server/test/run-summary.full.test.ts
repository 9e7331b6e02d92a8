import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { place, run } from './command-line.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const node = (source: string): string[] => [process.execPath, '-e', source]

/** A program in another language, which publishes a message to a host without a destination and moves time. */
const program = (code: number): string => `
const { env } = process
const post = (url, body, headers = {}) => fetch(url, { method: 'POST', body, headers })
const [queue, queueToken, store, storeToken] = ['QSTASH_URL', 'QSTASH_TOKEN', 'UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'].map((name) => env[name])
await post(store, '["SET","<b>@octocat</b>","#1"]', { authorization: 'Bearer ' + storeToken })
await post(queue + '/v2/publish/https://shop.test/orders', '{"id":42}', { authorization: 'Bearer ' + queueToken, 'upstash-retries': '1' })
await post(env.STUNTDOUBLE_CONTROL_URL + '/clock/advance', '{"by":"1d"}')
process.exit(${code})
`

let file: string
let runs = 0

beforeEach(() => {
  file = join(place, `step-${++runs}.md`)
  vi.stubEnv('GITHUB_ACTIONS', 'true')
  vi.stubEnv('GITHUB_STEP_SUMMARY', file)
  onTestFinished(() => void vi.unstubAllEnvs())
})

function plain(html: string): string {
  return html.replace(/<[^>]*>/g, ' ').replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
}

const inModule = (source: string): string[] => [process.execPath, '--input-type=module', '-e', source]

describe('run in GitHub Actions', () => {
  test.each([0, 3])('appends the facts of each tenant if the command ends with %i', async (code) => {
    const options = ['--dialect', 'upstash', '--clock', 'manual']
    expect((await run('run', ...options, '--', ...inModule(program(code)))).code).toBe(code)
    const summary = readFileSync(file, 'utf8')
    const [facts = ''] = summary.split('<details>')
    expect(plain(facts)).toContain(`stuntdouble run:  ${process.execPath}  ended with exit code ${code}`)
    expect(plain(facts)).toMatch(/Tenant\s+main/)
    const count = (what: string): number => Number(new RegExp(`<td>${what}</td><td>(\\d+)</td>`).exec(facts)![1])
    expect(count('requests')).toBeGreaterThanOrEqual(2)
    expect(count('delivery attempts')).toBeGreaterThanOrEqual(2)
    expect(count('failed delivery attempts')).toBe(count('delivery attempts'))
    expect(count('unhandled deliveries')).toBe(1)
    expect(count('dead letters')).toBe(1)
    expect(plain(facts)).toMatch(/Problem:\s+Delivery to https:\/\/shop\.test\/orders was refused/)
    expect(plain(summary)).toContain('SET <b>@octocat</b> #1')
    expect(summary).not.toMatch(/<b>@|process\.exit/)
  })

  test('counts what two commands of one step did', async () => {
    await run('run', '--', ...node(''))
    await run('run', '--', ...node('process.exit(1)'))
    const summary = plain(readFileSync(file, 'utf8'))
    expect(summary.match(/ended with exit code \d/g)).toEqual(['ended with exit code 0', 'ended with exit code 1'])
    expect(summary).toContain('No request reached the server.')
  })

  test('prints one line and keeps the exit code if the file cannot be written', async () => {
    vi.stubEnv('GITHUB_STEP_SUMMARY', join(place, 'missing', 'step.md'))
    expect(await run('run', '--', ...node('process.exit(4)'))).toMatchObject({
      code: 4,
      err: expect.stringMatching(/^stuntdouble wrote no step summary: ENOENT[^\n]*\.\n$/),
    })
  })
})

test('run writes no summary elsewhere', async () => {
  vi.stubEnv('GITHUB_ACTIONS', undefined)
  expect((await run('run', '--', ...node(''))).err).toBe('')
  expect(existsSync(file)).toBe(false)
})
