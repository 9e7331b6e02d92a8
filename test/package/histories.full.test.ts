import { execFile, execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parse } from 'yaml'

// Follows docs/replay.md with the packed package. The double is the production service, and a run of it sleeps.

const root = new URL('../..', import.meta.url).pathname
const place = join(inject('consumer'), 'histories')
const page = readFileSync(join(root, 'docs/replay.md'), 'utf8')
const example = (name: string): string => readFileSync(join(root, 'examples/replay', name), 'utf8')

interface Step {
  readonly name?: string
  readonly run?: string
  readonly uses?: string
  readonly env?: Readonly<Record<string, string>>
}
const pipeline = parse(example('github-actions.yml')) as {
  readonly on: Readonly<Record<string, unknown>>
  readonly jobs: Readonly<Record<string, { readonly if: string; readonly steps: readonly Step[] }>>
}

beforeAll(() => {
  const modules = join(place, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const program = join(inject('consumer'), 'node_modules/stuntdouble/dist/cli.js')
  chmodSync(program, 0o755)
  symlinkSync(program, join(modules, '.bin/stuntdouble'))
  symlinkSync(join(inject('consumer'), 'node_modules/vitest/vitest.mjs'), join(modules, '.bin/vitest'))
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  writeFileSync(join(place, 'vitest.config.js'), `export default { test: { root: ${JSON.stringify(place)} } }\n`)
  for (const name of ['route.ts', 'histories.test.ts', 'histories'])
    cpSync(join(root, 'examples/replay', name), join(place, name), { recursive: true })
})

interface Ended {
  readonly code: number
  readonly out: string
}

/** A `run:` line of the pipeline, or a block of the page, as the runner's shell takes it. */
function sh(script: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const path = `${join(process.execPath, '..')}:${process.env.PATH}`
  return new Promise((resolve) => {
    const options = { cwd: place, env: { ...process.env, PATH: path, NO_COLOR: '1', ...env } }
    execFile('bash', ['-e', '-c', script], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : ((error.code as number | undefined) ?? 1), out: stdout + stderr }),
    )
  })
}

const stepOf = (job: string, wanted: (step: Step) => boolean): Step => pipeline.jobs[job]!.steps.find(wanted)!
const vitestLine = stepOf('replay', ({ run }) => run?.startsWith('npx vitest') === true).run!

test('the page shows the files of the example', () => {
  for (const name of ['route.ts', 'histories.test.ts', 'github-actions.yml']) expect(page).toContain(example(name))
})

test('the pipeline replays on pull requests and uses only named inputs', () => {
  expect(Object.keys(pipeline.on)).toEqual(['pull_request', 'workflow_dispatch'])
  const scripts = Object.values(pipeline.jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
  // `npm ci` needs a registry; all other lines are run below.
  expect(new Set(scripts)).toEqual(
    new Set(['npm ci', vitestLine, stepOf('take', ({ name }) => name !== undefined).run!]),
  )
  // Input of users must not become part of a script.
  for (const script of scripts) expect(script).not.toContain('${{')
})

test('the replay passes, and fails with both names after a step is renamed', async () => {
  const green = await sh(vitestLine)
  expect(green.out).toContain('1 passed')
  expect(green.code).toBe(0)
  const route = join(place, 'route.ts')
  writeFileSync(route, example('route.ts').replace("run('charge'", "run('pay'"))
  const red = await sh(vitestLine)
  writeFileSync(route, example('route.ts'))
  expect(red.code).toBe(1)
  for (const line of /\n```\n("message[^`]*)```/.exec(page)![1]!.trim().split('\n')) expect(red.out).toContain(line)
})

/** Starts the app on its own port, and a double as the service. */
const shop = `
import { createServer } from 'node:http'
import { POST } from './route.ts'
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const url = 'http://' + request.headers.host + request.url
  const answer = await POST(new Request(url, { method: 'POST', headers: request.headers, body: Buffer.concat(chunks) }))
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('ready'))
`
const children: { kill(): void }[] = []
afterAll(() => {
  for (const child of children) child.kill()
})

function started(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: place, env: { ...process.env, ...env } })
  children.push(child)
  return new Promise((resolve, reject) => {
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
      if (/^ready$/m.test(out)) resolve(out)
    })
    child.stderr.on('data', (chunk) => {
      out += chunk
    })
    child.on('close', () => reject(new Error(out)))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('replays a run that sleeps in production, with curl and the command', async () => {
  const double = await started(['node_modules/.bin/stuntdouble', 'serve', '--port', '0', '--dialect', 'upstash'])
  const told = (name: string): string => new RegExp(`^${name}=(\\S+)`, 'm').exec(double)![1]!
  const env = { QSTASH_URL: told('QSTASH_URL'), QSTASH_TOKEN: told('QSTASH_TOKEN') }
  writeFileSync(join(place, 'shop.ts'), shop)
  const port = await freePort()
  await started(['shop.ts'], { ...env, PORT: String(port) })
  const endpoint = `http://127.0.0.1:${port}/api/order`
  const { workflowRunId: run } = (await (
    await fetch(endpoint, { method: 'POST', body: '{"id":7}', headers: { 'content-type': 'application/json' } })
  ).json()) as { workflowRunId: string }

  const headers = { authorization: `Bearer ${env.QSTASH_TOKEN}` }
  const steps = async (): Promise<number> => {
    const answer = await fetch(`${env.QSTASH_URL}/v2/workflows/runs/${run}`, { headers })
    return ((await answer.json()) as unknown[]).length
  }
  await expect.poll(steps, { timeout: 30_000 }).toBe(3)

  rmSync(join(place, 'histories/order.json'))
  const block = /```sh\n(curl[^`]*)```/.exec(page)![1]!
  const taken = await sh(block, { ...env, RUN: run })
  expect(taken.code).toBe(0)
  expect(taken.out).toMatch(/^wfr_unknown of https:\/\/app\.test\/api\/order: RUN_STARTED, 3 entries\nmissing: /m)

  const { env: asked, run: script } = stepOf('take', ({ name }) => name !== undefined)
  expect(Object.keys(asked!)).toEqual(['QSTASH_URL', 'QSTASH_TOKEN', 'WORKFLOW_URL', 'RUN'])
  const again = await sh(script!, { ...env, RUN: run, WORKFLOW_URL: 'https://app.test/api/order' })
  expect([again.code, again.out]).toEqual([0, expect.stringContaining(`${run} of https://app.test/api/order`)])

  const log = await sh(
    `curl -fsS -H "Authorization: Bearer $QSTASH_TOKEN" "$QSTASH_URL/v2/workflows/logs?workflowRunId=$RUN" |
      npx stuntdouble history - --url https://app.test/api/order > histories/of-log.json`,
    { ...env, RUN: run },
  )
  expect(log.code).toBe(0)
  const origin = new URL(env.QSTASH_URL).origin
  const direct = await sh(
    `npx stuntdouble history --server ${origin} --run ${run} --url https://app.test/api/order --out histories/direct.json`,
  )
  expect(direct.code).toBe(0)

  const green = await sh(vitestLine)
  expect(green.out).toContain('4 passed')
  // A run that has ended is only in the log.
  execFileSync('curl', [
    '-fsS',
    '-X',
    'DELETE',
    '-H',
    `Authorization: Bearer ${env.QSTASH_TOKEN}`,
    `${env.QSTASH_URL}/v2/workflows/runs/${run}?cancel=true`,
  ])
  const late = await sh(block, { ...env, RUN: run })
  expect(late.code).not.toBe(0)
})
