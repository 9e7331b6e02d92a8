import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { expect, inject, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const own = join(inject('consumer'), 'node_modules/stuntdouble')
const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as {
  exports: Record<string, { require?: unknown } | string>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  peerDependenciesMeta: Record<string, { optional: boolean }>
  sideEffects: string[]
  scripts: Record<string, string>
}

test('publint reports nothing', async () => {
  const { messages } = await publint({ pkgDir: own, strict: true })
  expect(messages).toEqual([])
})

interface TypeProblem {
  readonly kind: string
  readonly entrypoint?: string
}

function isModuleOnly(entrypoint: string): boolean {
  const target = manifest.exports[entrypoint]
  return typeof target === 'object' && !('require' in target)
}

test('attw reports nothing', () => {
  const bin = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  // The output goes to a file, because the process exits before it has written all into a pipe.
  const report = join(inject('consumer'), 'attw.json')
  const out = openSync(report, 'w')
  spawnSync(process.execPath, [bin, inject('tarball'), '--format', 'json'], { stdio: ['ignore', out, 'inherit'] })
  closeSync(out)
  const found = Object.values(
    (JSON.parse(readFileSync(report, 'utf8')) as { problems?: Record<string, TypeProblem[]> }).problems ?? {},
  ).flat()
  // These entries are for packages that are modules only: Vitest, Playwright, @msw/data.
  const problems = found.filter(
    ({ kind, entrypoint = '.' }) => !(kind === 'CJSResolvesToESM' && isModuleOnly(entrypoint)),
  )
  expect(problems).toEqual([])
})

test('the package contains only necessary files', () => {
  const files = execFileSync('tar', ['-tzf', inject('tarball')], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .sort()
  const strange = files.filter(
    (file) =>
      !/^package\/(?:dist\/[\w./-]+\.(?:js|cjs|d\.ts|d\.cts)|dist\/scenarios\/[\w-]+\.yaml|dist\/\w+\.schema\.json|docs\/(?:[\w-]+\/)?[\w-]+\.md|examples\/[\w./-]+|package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|THIRD-PARTY-LICENSES\.md)$/.test(
        file,
      ),
  )
  expect(strange).toEqual([])
  expect(files).toEqual(
    expect.arrayContaining([
      'package/LICENSE',
      'package/THIRD-PARTY-LICENSES.md',
      'package/README.md',
      'package/dist/index.js',
    ]),
  )
})

/** Returns the targets of links of a packed page, as paths of the package. */
function linksOf(page: string): string[] {
  const prose = readFileSync(join(own, page), 'utf8').replace(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^(?:[a-z]+:|#)/.test(target))
    .map((target) => join(dirname(page), target.split('#')[0]!))
}

/** Targets that exist only in the repository: files for contributors, pictures, tests, and apps that a page quotes. */
const notPacked =
  /^docs\/(?:contributing|decisions|pictures|protocol)(?:\/|$)|^packages\/server\/scenarios\/|^examples\/(?:case-studies|recipes)(?:\/|$)|^(?:packages\/\w+\/)?test\//

test('every link of a packed page has a packed target, or one for contributors', () => {
  const pages = readdirSync(own, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('node_modules'),
  )
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/time.md']))
  const links = pages.flatMap((page) => linksOf(page).map((to) => ({ page, to })))
  expect(links.length).toBeGreaterThan(300)
  const missing = links.filter(({ to }) => to.startsWith('..') || !existsSync(join(own, to)))
  expect(missing.filter(({ to }) => !notPacked.test(to))).toEqual([])
})

test('runners and interception libraries are optional peers, and no package has an install script', () => {
  expect(Object.keys(manifest.peerDependencies).sort()).toEqual(Object.keys(manifest.peerDependenciesMeta).sort())
  expect(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional)).toBe(true)
  // npm accepts every version only for this range. `>=0` rejects prereleases, and then npm installs nothing at all.
  expect(new Set(Object.values(manifest.peerDependencies))).toEqual(new Set(['*']))
  expect(Object.keys(manifest.dependencies).sort()).toEqual([
    '@noble/hashes',
    '@orama/stemmers',
    '@valibot/to-json-schema',
    'citty',
    'croner',
    'eventsource-parser',
    'rou3',
    'tinypool',
    'valibot',
    'yaml',
  ])
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; dependencies?: Record<string, string> } | undefined>
  }
  // Only dependencies of the package are checked. Tests and examples have separate workspaces.
  const coming = new Set(Object.keys(manifest.dependencies))
  for (const name of coming)
    for (const below of Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {})) coming.add(below)
  const found = [...coming].map((name) => [name, lock.packages[`node_modules/${name}`]?.hasInstallScript ?? false])
  expect(found.filter(([name]) => lock.packages[`node_modules/${name}`] === undefined)).toEqual([])
  expect(found.filter(([, isScripted]) => isScripted)).toEqual([])
  expect(['preinstall', 'install', 'postinstall'].filter((name) => name in manifest.scripts)).toEqual([])
})

test('only the entries that extend a runner have side effects', () => {
  const extend = Object.keys(manifest.exports).filter((path) => path.endsWith('/extend'))
  const listed = manifest.sideEffects.filter((path) => path.startsWith('./dist/'))
  for (const path of extend) expect(listed).toContain(`./dist/${path.slice(2)}.js`)
  expect(listed.filter((path) => !/\/extend\.c?js$/.test(path))).toEqual([])
})

test('the package stays below its maximum size', () => {
  expect(statSync(inject('tarball')).size).toBeLessThan(2_300_000)
})
