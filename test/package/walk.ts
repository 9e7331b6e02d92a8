// A walk is a page of docs/runners that a reader follows from an empty folder. This module follows it exactly: its files
// are written, its commands run, and their output is compared with that on the page.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'run'; readonly script: string; readonly prints: readonly string[] }

/** Returns the steps of a page. A block after a paragraph that ends in a name in backticks and a colon is a file. */
export function stepsOf(page: string): readonly Step[] {
  const steps: Step[] = []
  for (const [, before = '', language = '', text = ''] of page.matchAll(/([^\n]*)\n\n```(\w+)\n(.*?)^```$/gms)) {
    const name = /`([\w.-]+)`:$/.exec(before)?.[1]
    if (name !== undefined) steps.push({ kind: 'file', name, text })
    else if (language === 'sh') steps.push({ kind: 'run', script: text, prints: [] })
    else if (language === 'text') {
      const last = steps.pop()
      if (last?.kind !== 'run') throw new Error(`Nothing was run before this was printed:\n${text}`)
      steps.push({ ...last, prints: text.split('\n').filter((line) => line.trim() !== '') })
    } else throw new Error(`This block is neither a file nor a command:\n${text}`)
  }
  return steps
}

/** Returns whether lines of the page are in an output in order; `…` matches any text. */
export function isPrinted(output: string, lines: readonly string[]): boolean {
  const parts = lines.map((line) =>
    line
      .trim()
      .split('…')
      .map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*'),
  )
  return new RegExp(parts.join('.*?'), 's').test(output)
}

export interface Told {
  readonly script: string
  readonly code: number | null
  readonly output: string
}

/** A folder in which a page is followed. */
export class Walk implements AsyncDisposable {
  readonly #folder: string
  readonly #consumer: string
  readonly #env: Readonly<Record<string, string>>
  readonly #ends: (() => Promise<void>)[] = []

  /**
   * @param folder an empty one, outside of everything that has packages
   * @param consumer where the packed package is installed
   */
  constructor(folder: string, consumer: string, env: Readonly<Record<string, string>> = {}) {
    this.#folder = folder
    this.#consumer = consumer
    this.#env = { ...cleanEnvironment(), ...env }
  }

  /** Takes one step. A file prints nothing. */
  async take(step: Step): Promise<Told | undefined> {
    if (step.kind === 'file') {
      writeFileSync(join(this.#folder, step.name), step.text)
      return undefined
    }
    const lines = step.script.split('\n').filter((line) => line !== '' && !this.#isProvided(line))
    if (lines.length === 0) return undefined
    const script = lines.join('\n')
    return script.endsWith(' &') ? this.#start(script.slice(0, -2), step.prints) : this.#run(script)
  }

  /** Installs packages and the browser from this machine, not from a registry. */
  #isProvided(line: string): boolean {
    const packages = /^npm install --save-dev (.+)$/.exec(line)?.[1]
    if (packages !== undefined) for (const name of packages.split(' ')) this.#install(name)
    return packages !== undefined || line === 'npx playwright install chromium'
  }

  /** Removes packages that the page does not install. */
  #install(name: string): void {
    const modules = join(this.#folder, 'node_modules')
    const own = join(this.#consumer, 'node_modules', name)
    const { bin = {} } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
      bin?: string | Readonly<Record<string, string>>
    }
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(realpathSync(own), join(modules, name))
    mkdirSync(join(modules, '.bin'), { recursive: true })
    for (const [command, file] of Object.entries(typeof bin === 'string' ? { [name]: bin } : bin)) {
      execFileSync('chmod', ['+x', join(realpathSync(own), file)])
      symlinkSync(join(realpathSync(own), file), join(modules, '.bin', command))
    }
  }

  #run(script: string): Promise<Told> {
    return new Promise((resolve) => {
      const { child, output } = this.#spawn(script)
      child.on('close', (code) => resolve({ script, code, output: output() }))
    })
  }

  /** Runs a command in the background until the end of the walk, and continues after its expected output. */
  #start(script: string, prints: readonly string[]): Promise<Told> {
    return new Promise((resolve) => {
      const { child, output } = this.#spawn(script)
      const ended = new Promise<void>((resolveEnd) => {
        child.on('close', (code) => {
          resolve({ script, code, output: output() })
          resolveEnd()
        })
      })
      child.stdout.on('data', () => {
        if (isPrinted(output(), prints)) resolve({ script, code: 0, output: output() })
      })
      this.#ends.push(async () => {
        // npx started it as a child process, so the whole process group is ended.
        if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
        await ended
      })
    })
  }

  #spawn(script: string) {
    const child = spawn('sh', ['-ec', script], {
      cwd: this.#folder,
      env: this.#env as unknown as NodeJS.ProcessEnv,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (part: string) => {
        text += part
      })
    }
    return { child, output: () => text.replace(/\x1b\[[\d;]*m/g, '') }
  }

  /** Returns the type errors in the folder and in the declarations of this package. */
  async mistakes(): Promise<string> {
    const files = readdirSync(this.#folder).filter((name) => name.endsWith('.ts'))
    return files.length === 0 ? '' : typeErrors(this.#folder, files)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

/** Usual compiler options. */
const usual = ['--module', 'preserve', '--lib', 'es2023,esnext.disposable,dom,dom.asynciterable']

/**
 * Returns the compiler errors for files of a folder and for the declarations of this package, but not of other packages.
 */
export async function typeErrors(
  folder: string,
  files: readonly string[],
  options: readonly string[] = usual,
  compiler: 'typescript-7' | 'typescript' = 'typescript-7',
): Promise<string> {
  const strict = [
    '--noEmit',
    '--declaration',
    '--strict',
    '--target',
    'es2023',
    '--skipLibCheck',
    'false',
    '--skipDefaultLibCheck',
  ]
  const program = join(root, 'node_modules', compiler, 'bin/tsc')
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, [program, ...strict, ...options, ...files], { cwd: folder }, (_, text) => resolve(text))
  })
  // A message continues in indented lines.
  return stdout
    .split(/\n(?! )/)
    .filter((message) => !/^[^(]*\/node_modules\/(?!stuntdouble\/dist\/)[^(]*\(/.test(message))
    .join('\n')
    .trim()
}

/**
 * What `npx playwright install chromium` would have done: a directory of browsers in which Playwright finds this
 * machine's.
 * @returns the environment that names it
 */
export function browserEnvironment(
  folder: string,
  consumer: string,
  chromium: string,
): Readonly<Record<string, string>> {
  const env = { PLAYWRIGHT_BROWSERS_PATH: join(folder, 'browsers') }
  // Only Playwright knows the path of its headless browser.
  const launch = `require('playwright-core').chromium.launch().catch(({ message }) => console.log(message))`
  const all = { ...cleanEnvironment(), ...env } as unknown as NodeJS.ProcessEnv
  const told = execFileSync(process.execPath, ['-e', launch], { cwd: consumer, env: all })
  const wanted = /Executable doesn't exist at (.*)/.exec(String(told))?.[1]
  if (wanted === undefined) throw new Error(`Playwright did not say where it looks for a browser:\n${told}`)
  mkdirSync(dirname(wanted), { recursive: true })
  const options = '--no-sandbox --disable-gpu --disable-dev-shm-usage'
  const days = keepsPagesAway(consumer) ? '' : ' --disable-features=LocalNetworkAccessChecks'
  writeFileSync(wanted, `#!/bin/sh\nexec '${chromium}' ${options} "$@"${days}\n`, { mode: 0o755 })
  return env
}

/** Since Chrome 142, public pages cannot reach this machine. An older Playwright has neither this version nor its permission. */
function keepsPagesAway(consumer: string): boolean {
  const list = createRequire(join(consumer, 'package.json')).resolve('playwright-core/package.json')
  const { browsers } = JSON.parse(readFileSync(join(dirname(list), 'browsers.json'), 'utf8')) as {
    browsers: { name: string; browserVersion?: string }[]
  }
  return Number.parseInt(browsers.find(({ name }) => name === 'chromium')!.browserVersion!, 10) >= 142
}

/** Returns the environment of a terminal, without variables of the surrounding runner. */
function cleanEnvironment(): Record<string, string> {
  const foreign = /^(?:VITEST|JEST|PLAYWRIGHT|TEST|npm_|UPSTASH_|QSTASH_|NODE_OPTIONS|NODE_ENV|FORCE_COLOR)/
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name)) as [string, string][]
  return {
    ...Object.fromEntries(kept),
    NO_COLOR: '1',
    CI: '1',
    npm_config_offline: 'true',
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  }
}

/** Returns the page with free ports of this machine. */
export async function withFreePorts(page: string, ports: readonly number[]): Promise<string> {
  let text = page
  for (const port of ports) text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await freePort()))
  return text
}

/** Returns a free port whose next port is also free, for the second worker. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = await listened(0)
    if (port !== undefined && (await listened(port + 1)) !== undefined) return port
  }
}

/** Returns a port after listening on it briefly; `undefined` when it is in use. */
function listened(at: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(undefined))
    server.listen(at, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
