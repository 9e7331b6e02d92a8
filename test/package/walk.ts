// A walk is a page of docs/runners that a newcomer follows from an empty folder. This follows it to the letter: its files
// are written, its commands run, and what they print is held against what the page says.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'run'; readonly script: string; readonly prints: readonly string[] }

/** The steps of a page, in order. A block whose paragraph before ends in a name in backticks and a colon is that file. */
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

/** Whether lines of the page stand in an output, in their order; `…` is what differs from run to run. */
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

/** A folder that somebody follows a page in. */
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

  /** Packages come from this machine, not from a registry, and so does the browser. */
  #isProvided(line: string): boolean {
    const packages = /^npm install --save-dev (.+)$/.exec(line)?.[1]
    if (packages !== undefined) for (const name of packages.split(' ')) this.#install(name)
    return packages !== undefined || line === 'npx playwright install chromium'
  }

  /** What the page does not install is not there. */
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

  /** In the background, until the end of the walk; goes on once it has printed what the page says. */
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
        // npx has started it as a child of its own: the whole group goes.
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

  /** What an editor would underline in the TypeScript of the folder, and in our declarations. */
  async mistakes(): Promise<string> {
    const files = readdirSync(this.#folder).filter((name) => name.endsWith('.ts'))
    return files.length === 0 ? '' : typeErrors(this.#folder, files)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

/** As most projects have it. */
const usual = ['--module', 'preserve', '--lib', 'es2023,esnext.disposable,dom,dom.asynciterable']

/**
 * What the compiler says about files of a folder, declarations of packages included: of those of other packages nothing,
 * of ours everything.
 */
export async function typeErrors(
  folder: string,
  files: readonly string[],
  options: readonly string[] = usual,
): Promise<string> {
  const strict = ['--noEmit', '--strict', '--target', 'es2023', '--skipLibCheck', 'false', '--skipDefaultLibCheck']
  const compiler = join(root, 'node_modules/typescript-7/bin/tsc')
  const stdout = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, ...strict, ...options, ...files], { cwd: folder }, (_, text) => resolve(text))
  })
  // A message goes on in lines that are indented.
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
  // Only Playwright knows where it looks for the browser that it runs without a window.
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

/** Chrome 142 began to keep public pages away from this machine; an older Playwright neither has it nor its permission. */
function keepsPagesAway(consumer: string): boolean {
  const list = createRequire(join(consumer, 'package.json')).resolve('playwright-core/package.json')
  const { browsers } = JSON.parse(readFileSync(join(dirname(list), 'browsers.json'), 'utf8')) as {
    browsers: { name: string; browserVersion?: string }[]
  }
  return Number.parseInt(browsers.find(({ name }) => name === 'chromium')!.browserVersion!, 10) >= 142
}

/** As in a terminal of somebody's: without what the runner around this has set. */
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

/** The page with ports that are free on this machine in place of those that it names. */
export async function withFreePorts(page: string, ports: readonly number[]): Promise<string> {
  let text = page
  for (const port of ports) text = text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await freePort()))
  return text
}

/** A port that is free, and so is the next one, for the second worker. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = await listened(0)
    if (port !== undefined && (await listened(port + 1)) !== undefined) return port
  }
}

/** The port that was listened at for a moment, `undefined` when it is taken. */
function listened(at: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(undefined))
    server.listen(at, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
