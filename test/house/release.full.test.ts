import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { raiseVersion } from '../support/version.ts'

// Runs the steps of a release except publishing, in a copy.

const root = fileURLToPath(new URL('../../', import.meta.url))
interface Manifest {
  readonly version: string
  readonly workspaces: readonly string[]
  readonly dependencies: Readonly<Record<string, string>>
}
interface Lock {
  readonly version: string
  readonly packages: Readonly<Record<string, { readonly version: string }>>
}

let copy: string
const json = <T>(name: string): T => JSON.parse(readFileSync(join(copy, name), 'utf8')) as T

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'stuntdouble-release-'))
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'packages/create-stuntdouble', '.changeset'])
    cpSync(join(root, name), join(copy, name), { recursive: true })
})
afterEach(() => rmSync(copy, { recursive: true }))

test('the SBOM of the workflow lists every dependency of the package in its locked version, and no others', () => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: { build: { steps: readonly { run?: string }[] } }
  }
  const script = jobs.build.steps.find(({ run }) => run?.includes('npm sbom'))!.run!
  const place = join(copy, 'runner')
  mkdirSync(place)
  // The options are those of GitHub.
  execFileSync('bash', ['-e', '-c', script], {
    cwd: copy,
    env: { ...process.env, RUNNER_TEMP: place, npm_config_cache: join(place, 'cache') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const sbom = json<{
    metadata: { component: { name: string; version: string } }
    components: readonly { name: string; version: string }[]
    dependencies: readonly { ref: string; dependsOn: readonly string[] }[]
  }>('release/sbom.cdx.json')
  const { version, dependencies } = json<Manifest>('package.json')
  const { packages } = json<Lock>('package-lock.json')
  expect(sbom.metadata.component).toMatchObject({ name: 'stuntdouble', version })
  const locked = Object.keys(dependencies).map((name) => `${name}@${packages[`node_modules/${name}`]!.version}`)
  expect(sbom.dependencies.find(({ ref }) => ref === `stuntdouble@${version}`)?.dependsOn).toEqual(locked)
  // All dependencies of dependencies are dependencies of this package, too.
  expect(sbom.components.map((one) => `${one.name}@${one.version}`).toSorted()).toEqual(locked.toSorted())
})

describe('the job that stages the packages', () => {
  const { jobs } = parse(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')) as {
    jobs: { stage: { steps: readonly { run?: string }[] } }
  }
  const scripts = jobs.stage.steps.flatMap(({ run }) => run ?? [])
  const names = ['stuntdouble-1.2.3.tgz', 'create-stuntdouble-1.2.3-rc.1.tgz', 'sbom.cdx.json']

  /** Runs its scripts as GitHub does, with the checksums of the build, and returns the arguments of npm. */
  function stage(sums: (all: string) => string = (all) => all): string {
    const programs = join(copy, 'programs')
    mkdirSync(programs)
    writeFileSync(join(programs, 'npm'), `#!/bin/sh\n{ ls -A; echo "$@"; } >> "${copy}/called"\n`, { mode: 0o755 })
    const env = {
      ...process.env,
      PATH: `${programs}:${process.env.PATH}`,
      RUNNER_TEMP: join(copy, 'runner'),
      GITHUB_WORKSPACE: copy,
      SUMS: sums(execFileSync('sha256sum', names, { cwd: join(copy, 'downloaded'), encoding: 'utf8' }).trimEnd()),
    }
    mkdirSync(env.RUNNER_TEMP)
    writeFileSync(join(copy, 'called'), '')
    scripts.forEach((script, index) => {
      const cwd = index === 0 ? copy : join(env.RUNNER_TEMP, 'release')
      execFileSync('bash', ['-e', '-c', script], { cwd, env, stdio: 'pipe' })
    })
    return readFileSync(join(copy, 'called'), 'utf8')
  }

  /** A copy of the file under a name that only the pattern rejects. */
  const again = (all: string, name: string): string => `${all}\n${all.slice(0, 64)}  ${name}`

  function pack(name: string, manifest: object): void {
    mkdirSync(join(copy, 'package'))
    writeFileSync(join(copy, 'package/package.json'), JSON.stringify(manifest))
    execFileSync('tar', ['-czf', `downloaded/${name}`, 'package'], { cwd: copy })
    rmSync(join(copy, 'package'), { recursive: true })
  }

  beforeEach(() => {
    mkdirSync(join(copy, 'downloaded'))
    for (const name of names) pack(name, { publishConfig: { access: 'public', provenance: true } })
  })

  test('calls npm in a folder with the listed files only', () => {
    for (const name of ['.npmrc', 'package.json', 'evil.tgz', 'SHA256SUMS'])
      writeFileSync(join(copy, 'downloaded', name), 'a')
    const listed = ['SHA256SUMS', ...names].toSorted()
    const calls = stage().trimEnd().split('\n')
    expect(calls.filter((line) => !line.startsWith('stage ')).toSorted()).toEqual([...listed, ...listed].toSorted())
    expect(calls.filter((line) => line.startsWith('stage ')).toSorted()).toEqual(
      [names[1], names[0]].map(
        (name) => `stage publish ./${name} --provenance --ignore-scripts --userconfig /dev/null`,
      ),
    )
  })

  test.each<[what: string, sums: (all: string) => string]>([
    ['another sum', (all) => all.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))],
    ['no sums', () => ''],
    ['a hidden file', (all) => again(all, '.npmrc')],
    ['a path', (all) => all.replace('  stunt', '  ./stunt')],
    ['an option', (all) => again(all, '-r.tgz')],
    ['another package', (all) => again(all, 'evil-1.2.3.tgz')],
    ['a line that is no sum', (all) => `${all}\nevil-1.2.3.tgz`],
  ])('rejects a list with %s', (_, sums) => {
    for (const name of ['.npmrc', '-r.tgz', 'evil-1.2.3.tgz'])
      cpSync(join(copy, 'downloaded', names[0]!), join(copy, 'downloaded', name))
    expect(() => stage(sums)).toThrow()
    expect(readFileSync(join(copy, 'called'), 'utf8')).toBe('')
  })

  test.each<[what: string, manifest: object]>([
    ['a proxy', { publishConfig: { access: 'public', 'https-proxy': 'https://evil.test' } }],
    ['a registry', { publishConfig: { registry: 'https://evil.test' } }],
    ['a list', { publishConfig: ['a'] }],
  ])('rejects a package that configures npm: %s', (_, manifest) => {
    pack(names[0]!, manifest)
    expect(() => stage()).toThrow()
    expect(readFileSync(join(copy, 'called'), 'utf8')).toBe('')
  })

  test('accepts a package without a configuration', () => {
    pack(names[0]!, {})
    expect(stage()).toContain(`publish ./${names[0]} `)
  })
})

test('a new version is in both packages, the lock file and the changelog', () => {
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'CHANGELOG.md'), '# Changes\n\n## 0.1.0\n\nFirst.\n')
  writeFileSync(join(copy, '.changeset/of-this-test.md'), "---\n'stuntdouble': major\n---\n\nAll is new.\n")
  const git = (...args: readonly string[]): unknown => execFileSync('git', args, { cwd: copy })
  git('init', '-q')
  git('add', '.changeset')
  git('-c', 'user.name=a', '-c', 'user.email=a@shop.test', 'commit', '-qm', 'a')
  const before = json<Manifest>('package.json')
  const locked = json<Lock>('package-lock.json')
  const version = raiseVersion(copy)
  expect(version).toBe(`${Number(before.version.split('.')[0]) + 1}.0.0`)
  expect(json('package.json')).toEqual({ ...before, version })
  expect(json('packages/create-stuntdouble/package.json')).toMatchObject({
    version,
    dependencies: { stuntdouble: `^${version}` },
  })
  const raised = json<Lock>('package-lock.json')
  expect(raised).toEqual({
    ...locked,
    version,
    packages: { ...locked.packages, '': { ...locked.packages[''], version } },
  })
  expect(readFileSync(join(copy, 'package-lock.json'), 'utf8').split('\n')).toHaveLength(
    readFileSync(join(root, 'package-lock.json'), 'utf8').split('\n').length,
  )
  expect(readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')).toMatch(
    new RegExp(`^# Changes\\n\\n## ${version}\\n[^]*All is new\\.[^]*## 0\\.1\\.0`),
  )
  expect(readdirSync(join(copy, '.changeset')).toSorted()).toEqual(['README.md', 'config.json'])
})
