import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { raiseVersion } from '../support/version.ts'

// What a release does apart from publishing, in a copy.

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
  // As GitHub runs it.
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
  // No dependency of ours has dependencies that it doesn't share with us.
  expect(sbom.components.map((one) => `${one.name}@${one.version}`).toSorted()).toEqual(locked.toSorted())
}, 60_000)

test('a new version stands in both packages, the lock file and the changelog', () => {
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
}, 60_000)
