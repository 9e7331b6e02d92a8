// Shared code of the nightly scripts of recipes: it starts the server of this package and a built app as processes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

type Environment = Readonly<Record<string, string>>

/** A program that runs until the script ends. */
export interface Program extends AsyncDisposable {
  /** Returns its output so far. */
  readonly output: () => string
}

/** A process of `stuntdouble serve`, used over plain HTTP. */
export interface Services extends Program {
  /** Environment for the SDKs. */
  readonly env: Environment
  /** Calls an operation of the control API for the tenant `main`. */
  readonly control: Control
  /** Returns the statuses of the app's responses to the queue since the start or the last reset; 0 for no response. */
  readonly attempts: () => Promise<{ readonly status: number; readonly body: string }[]>
}

type Control = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<unknown>

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const patience = 60_000

/** Ends the script successfully with a message if a requirement is missing. */
export function needs(what: Readonly<Record<string, string>>): void {
  const missing = Object.entries({ ...what, [cli]: 'Nothing is built: npm run build.' }).find(
    ([path]) => !existsSync(path),
  )
  if (missing === undefined) return
  console.log(`Skipped. ${missing[1]}`)
  process.exit(0)
}

/** Starts a server on a free port with a manual clock. */
export async function startServices(): Promise<Services> {
  const program = start(process.execPath, [cli, 'serve', '--port', '0', '--clock', 'manual'], process.cwd(), {})
  await until('stuntdouble serve', program, () => program.output().includes('\nready'))
  const env = Object.fromEntries(
    [...program.output().matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  )
  const { origin } = new URL(env.QSTASH_URL!)
  const control: Control = async (method, path, body) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
    const answer = await fetch(`${origin}/_control/main/${path}`, init)
    if (!answer.ok) throw new Error(`${method} ${path}: the server responded ${answer.status}: ${await answer.text()}`)
    return answer.status === 204 ? undefined : await answer.json()
  }
  const attempts = async (): Promise<{ status: number; body: string }[]> => {
    const entries = (await control('GET', 'traffic?type=attempt')) as { outcome: { status: number; body?: string } }[]
    return entries.map(({ outcome: { status, body = '' } }) => ({ status, body }))
  }
  return { ...program, env, control, attempts }
}

/** Runs a build synchronously. @throws Error with the output when the build fails */
export function build(command: readonly string[], cwd: string, env: Environment): void {
  const [script = '', ...words] = command
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 10 * patience,
  })
  if (status !== 0) throw new Error(`The build ended with ${status}.\n${stdout}\n${stderr}`)
}

/** Starts an app and waits until its `origin` responds with any status. */
export async function startApp(
  command: readonly string[],
  cwd: string,
  env: Environment,
  origin: string,
): Promise<Program> {
  const program = start(process.execPath, command, cwd, env)
  const answers = (): Promise<boolean> =>
    fetch(origin).then(
      (answer) => answer.arrayBuffer().then(() => true),
      () => false,
    )
  await until(`The app at ${origin}`, program, answers)
  return program
}

/** Returns an unused port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}

function start(program: string, words: readonly string[], cwd: string, env: Environment): Program {
  // The program gets its own process group, so that its child processes end with it.
  const child = spawn(program, words, { cwd, env: { ...process.env, ...env }, detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  return { output: () => output, [Symbol.asyncDispose]: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const ended = new Promise((done) => child.once('exit', done))
  process.kill(-child.pid, 'SIGTERM')
  await ended
}

async function until(what: string, program: Program, isReady: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; ) {
    if (await isReady()) return
    await new Promise((done) => setTimeout(done, 100))
  }
  await program[Symbol.asyncDispose]()
  throw new Error(`${what} was not ready after ${patience / 1000} s. It printed:\n${program.output()}`)
}
