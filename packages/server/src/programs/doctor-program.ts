import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { stripVTControlCharacters, styleText } from 'node:util'
import { ownManifest, type Program } from '@stuntdouble/command-line'
import { installedVersion, isOlder, problemWith } from '../../../../src/kernel/peers.js'
import { realHostsIn, upstashDialect } from '../../../../src/protocol/dialect.js'

interface Finding {
  readonly state: 'good' | 'missing' | 'bad'
  /** Text of the finding. For a problem, the text also says what to do. */
  readonly text: string
}

export const program: Program = {
  args: {},
  examples: ['stuntdouble doctor'],
  run: async () => {
    const findings = [node(), ...realHosts(process.env), ...dotenvFiles(), ...peers(), chromium()]
    for (const { state, text } of findings) console.log(`${mark(state)}  ${text}`)
    return findings.some(({ state }) => state === 'bad') ? 1 : 0
  },
}

const marks = { good: ['✓', 'green'], missing: ['–', 'yellow'], bad: ['✗', 'red'] } as const

function mark(state: Finding['state']): string {
  const [sign, color] = marks[state]
  return process.stdout.isTTY ? styleText(color, sign) : sign
}

const manifest = ownManifest()

function node(): Finding {
  const wanted = manifest.engines.node
  const found = process.versions.node
  const [, major, minor] = /(\d+)\.(\d+)/.exec(wanted) ?? []
  if (!isOlder(found, [Number(major), Number(minor)])) return { state: 'good', text: `Node ${found}` }
  return { state: 'bad', text: `Node ${found} is too old. Install Node ${wanted}.` }
}

/** Returns a finding for each variable that would make an SDK contact the real service. */
function realHosts(env: Readonly<Record<string, string | undefined>>, source = 'the environment'): Finding[] {
  const found = realHostsIn(env).map(
    ({ variable, host }): Finding => ({
      state: 'bad',
      text: `${variable} in ${source} is ${plain(host)}, a host of the real service that a test could reach. Remove the variable, or use the output of "stuntdouble env".`,
    }),
  )
  return found.length > 0 ? found : [{ state: 'good', text: `No variable in ${source} points to the real service` }]
}

/** Checks the files that frameworks load into the environment of a test. */
function dotenvFiles(): Finding[] {
  return ['.env', '.env.local', '.env.test', '.env.test.local', '.env.development'].flatMap((name) => {
    const path = join(process.cwd(), name)
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8').matchAll(/^\s*(?:export\s+)?(\w+)\s*=\s*["']?([^"'\s#]*)/gm)
    const values = Object.fromEntries([...lines].map(([, key, value]) => [key, value]))
    return realHosts(values, name)
  })
}

/** Removes control characters from a value of the environment, because they could move the cursor of the terminal. */
function plain(text: string): string {
  return stripVTControlCharacters(text)
}

function peers(): Finding[] {
  const { packages } = upstashDialect
  const sdks = [packages.store, packages.queue, packages.workflow, packages.ratelimit]
  return [
    ...Object.keys(manifest.peerDependencies).map((name) => installed(name)),
    ...sdks.map((name) => installed(name)),
  ].filter((finding) => finding !== undefined)
}

function installed(name: string): Finding | undefined {
  const version = installedVersion(name)
  if (version === undefined) return undefined
  const problem = problemWith(name, version)
  if (problem === undefined) return { state: 'good', text: `${name} ${plain(version)}` }
  return {
    state: problem.fails ? 'bad' : 'missing',
    text: `${name} ${plain(version)} ${problem.text}. To update it, run "npm install -D ${name}@latest".`,
  }
}

const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

function chromium(): Finding {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((directory) => browsers.map((name) => join(directory, name)))
  const found = path.find(isExecutable)
  if (found !== undefined) return { state: 'good', text: `Chromium at ${plain(found)}` }
  return {
    state: 'missing',
    text: 'Chromium is not on the PATH. For browser tests, run "npx playwright install chromium" or install a system package.',
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
