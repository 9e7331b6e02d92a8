import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UsageError } from '@stuntdouble/command-line'
import { installedVersion, problemWith } from '../../../../src/kernel/peers.js'
import { plainText } from '../../../../src/report/safe-text.js'

export const runners = ['vitest', 'jest', 'playwright', 'node'] as const
export type ProjectRunner = (typeof runners)[number]

/** Package of each runner. */
const packages = { vitest: 'vitest', jest: 'jest', playwright: '@playwright/test' } as const

/** Facts about a project, which is a folder with a package.json. */
export interface Project {
  readonly folder: string
  readonly runner: ProjectRunner
  /** Whether tests in TypeScript need no further configuration. */
  readonly typescript: boolean
  /** Package that compiles files for Jest. Without one, Jest uses Babel. */
  readonly transform: 'ts-jest' | '@swc/jest' | undefined
  /** Whether the types of Jest's global functions are installed. */
  readonly hasGlobalTypes: boolean
  /** Whether files of the project can use `import`. */
  readonly modules: boolean
  /**
   * Entry point that tests must import for the TypeScript declarations of the matchers; `undefined` if the import of
   * `useSandbox()` is enough.
   */
  readonly types: string | undefined
  readonly typeModule: boolean
  /**
   * Relative path of the existing configuration file of the runner. `package.json` if the configuration is in that
   * file.
   */
  readonly config: string | undefined
  /** Returns whether the configuration of the runner already contains the path of the setup file. */
  readonly hasSetup: (name: string) => boolean
  /** Relative path of the folder of the tests; empty for the project folder. */
  readonly tests: string
  /**
   * First words of two package manager commands. `install` adds a development dependency, and `execute` runs a command
   * of an installed package.
   */
  readonly install: string
  readonly execute: string
  /** Whether `stuntdouble` is one of the dependencies. */
  readonly hasPackage: boolean
  /** Messages about facts that the user should check. */
  readonly doubts: readonly string[]
}

interface Manifest {
  readonly type?: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly workspaces?: unknown
  readonly jest?: unknown
}

/**
 * Reads the facts about a project.
 * @param asked runner of `--runner`; without it, the dependencies determine the runner
 * @throws UsageError if the folder has no valid package.json, or if it is the root of a monorepo and `asked` is missing
 */
export function projectIn(folder: string, asked: ProjectRunner | undefined): Project {
  const manifest = manifestIn(folder)
  const isRoot = manifest.workspaces !== undefined || existsSync(join(folder, 'pnpm-workspace.yaml'))
  if (isRoot && asked === undefined) {
    throw new UsageError(
      `init: this is the root of a monorepo. Run it in the package that has the tests, or add --runner ${runners.join('|')} to write into the root.`,
    )
  }
  // In a monorepo, the package.json of the root may contain the runner for all packages.
  const above = rootAbove(folder)
  const known = {
    ...above?.dependencies,
    ...above?.devDependencies,
    ...manifest.dependencies,
    ...manifest.devDependencies,
  }
  const { runner, doubts } = runnerOf(known, manifest.scripts?.test ?? '', asked)
  const version = runner === 'node' ? undefined : installedVersion(packages[runner], join(folder, 'package.json'))
  const doubt = runner === 'node' ? undefined : doubtOf(runner, version)
  const transform = (['ts-jest', '@swc/jest'] as const).find((name) => runner === 'jest' && name in known)
  const usesTypescript = existsSync(join(folder, 'tsconfig.json')) || 'typescript' in known
  const manager = managerOf(folder, above === undefined ? undefined : above.folder)
  const typescript = usesTypescript && (runner === 'jest' ? transform !== undefined : runner !== 'node')
  const config = configOf(folder, runner, manifest)
  return {
    folder,
    runner,
    typescript,
    types: typescript && runner === 'vitest' ? typesOf(version ?? known[packages.vitest]) : undefined,
    transform,
    hasGlobalTypes: '@types/jest' in known,
    modules:
      runner !== 'jest' || transform !== undefined || /experimental-vm-modules/.test(manifest.scripts?.test ?? ''),
    typeModule: manifest.type === 'module',
    config,
    hasSetup: (name) => config !== undefined && readFileSync(join(folder, config), 'utf8').includes(name),
    tests: testsOf(folder, runner),
    ...manager,
    hasPackage: 'stuntdouble' in known,
    doubts: [...doubts, ...(doubt === undefined ? [] : [doubt])],
  }
}

function manifestIn(folder: string): Manifest {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    throw new UsageError(
      'init: there is no package.json in this folder. Run npm init -y first, or go to the folder of the project.',
    )
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof read === 'object' && read !== null) return read
  } catch (error) {
    throw new UsageError(`package.json cannot be read: ${plainText((error as Error).message)}.`)
  }
  throw new UsageError('package.json must contain a JSON object.')
}

function rootAbove(folder: string): (Manifest & { readonly folder: string }) | undefined {
  for (let at = dirname(folder); at !== dirname(at); at = dirname(at)) {
    if (!existsSync(join(at, 'package.json'))) continue
    const manifest = manifestIn(at)
    if (manifest.workspaces !== undefined || existsSync(join(at, 'pnpm-workspace.yaml')))
      return { ...manifest, folder: at }
  }
  return undefined
}

function runnerOf(
  known: object,
  script: string,
  asked: ProjectRunner | undefined,
): { readonly runner: ProjectRunner; readonly doubts: readonly string[] } {
  if (asked !== undefined) return { runner: asked, doubts: [] }
  const found = (['vitest', 'jest', 'playwright'] as const).filter((name) => packages[name] in known)
  const [first, ...others] = /\bnode\b.*--test\b/.test(script) ? (['node', ...found] as const) : found
  if (first === undefined) {
    return {
      runner: 'node',
      doubts: [
        `No test runner was found in the dependencies, so the files are for node:test, which is part of Node.js. For another runner, add --runner ${runners.slice(0, 3).join('|')}.`,
      ],
    }
  }
  const doubts = others.map(
    (other) =>
      `${other} was found, too. Add --runner ${other} to write its files. Let each runner include only its own tests.`,
  )
  return { runner: first, doubts }
}

/** Returns a message for a runner that is untested or not installed; otherwise `undefined`. */
function doubtOf(runner: Exclude<ProjectRunner, 'node'>, version: string | undefined): string | undefined {
  const name = packages[runner]
  if (version === undefined) return `${name} is not installed yet.`
  const problem = problemWith(name, version)
  return problem && `${name} ${plainText(version)} ${problem.text}.`
}

/**
 * Returns the entry point that declares the matchers. Vitest 5 and earlier versions need different entry points.
 * @param version version or version range of Vitest
 */
function typesOf(version: string | undefined): string {
  const major = Number(/\d+/.exec(version ?? '')?.[0] ?? 5)
  return major < 5 ? 'stuntdouble/vitest4/extend' : 'stuntdouble/vitest/extend'
}

const configNames: Readonly<Record<ProjectRunner, RegExp>> = {
  vitest: /^(?:vitest|vite)\.config\.[cm]?[jt]s$|^vitest\.workspace\./,
  jest: /^jest\.config\.(?:[cm]?[jt]s|json)$/,
  playwright: /^playwright(?:-ct)?\.config\.[cm]?[jt]s$/,
  node: /^$/,
}

function configOf(folder: string, runner: ProjectRunner, { jest }: Manifest): string | undefined {
  const found = readdirSync(folder)
    .filter((name) => configNames[runner].test(name))
    .sort()
  // Vitest prefers `vitest.config` to `vite.config`.
  return (
    found.find((name) => name.startsWith('vitest')) ??
    found[0] ??
    (runner === 'jest' && jest !== undefined ? 'package.json' : undefined)
  )
}

function testsOf(folder: string, runner: ProjectRunner): string {
  const usual = runner === 'playwright' ? ['e2e', 'tests', 'test'] : ['test', 'tests']
  return usual.find((name) => existsSync(join(folder, name))) ?? ''
}

function managerOf(folder: string, root: string | undefined): Pick<Project, 'install' | 'execute'> {
  const has = (file: string): boolean =>
    [folder, root].some((place) => place !== undefined && existsSync(join(place, file)))
  if (has('pnpm-lock.yaml')) return { install: 'pnpm add --save-dev', execute: 'pnpm exec' }
  if (has('yarn.lock')) return { install: 'yarn add --dev', execute: 'yarn' }
  if (has('bun.lock') || has('bun.lockb')) return { install: 'bun add --dev', execute: 'bunx' }
  return { install: 'npm install --save-dev', execute: 'npx' }
}
