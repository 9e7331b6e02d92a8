import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { stripVTControlCharacters, styleText } from 'node:util'
import { ownManifest, type Program } from '@stuntdouble/command-line'
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
  if (satisfies(found, wanted)) return { state: 'good', text: `Node ${found}` }
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
    ...Object.entries(manifest.peerDependencies).map(([name, range]) => installed(name, range)),
    ...sdks.map((name) => installed(name, undefined)),
  ].filter((finding) => finding !== undefined)
}

function installed(name: string, range: string | undefined): Finding | undefined {
  const version = versionOf(name)
  if (version === undefined) return undefined
  if (range === undefined || satisfies(version, range)) return { state: 'good', text: `${name} ${version}` }
  return {
    state: 'bad',
    text: `${name} ${version} is not supported (supported: ${range}). Run npm install -D ${name}@latest`,
  }
}

/**
 * Returns the installed version of a package. This function reads the package.json directly, because many packages do
 * not export their package.json.
 */
function versionOf(name: string): string | undefined {
  for (const directory of createRequire(join(process.cwd(), 'package.json')).resolve.paths(name) ?? []) {
    const path = join(directory, name, 'package.json')
    if (existsSync(path)) return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
  }
  return undefined
}

/**
 * Returns whether a range contains a version. This function supports only the ranges in the package.json of
 * stuntdouble: `>=22.12`, `^3.0.0`, and both joined by `||`.
 */
function satisfies(version: string, range: string): boolean {
  return range.split('||').some((one) => {
    const wanted = numbers(one)
    const found = numbers(version)
    const order = found.map((part, at) => part - (wanted[at] ?? 0)).find((difference) => difference !== 0) ?? 0
    return order >= 0 && (!one.trim().startsWith('^') || found[0] === wanted[0])
  })
}

function numbers(version: string): number[] {
  return (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? '0').split('.').map(Number)
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
