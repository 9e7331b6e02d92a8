import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
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

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: own, strict: true })
  expect(messages).toEqual([])
})

interface TypeProblem {
  readonly kind: string
  readonly entrypoint?: string
  readonly resolutionKind?: string
}

function isModuleOnly(entrypoint: string): boolean {
  const target = manifest.exports[entrypoint]
  return typeof target === 'object' && !('require' in target)
}

test('attw finds nothing', () => {
  const bin = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  // Into a file: it ends before it has written everything into a pipe.
  const report = join(inject('consumer'), 'attw.json')
  const out = openSync(report, 'w')
  spawnSync(process.execPath, [bin, inject('tarball'), '--format', 'json'], { stdio: ['ignore', out, 'inherit'] })
  closeSync(out)
  const found = Object.values(
    (JSON.parse(readFileSync(report, 'utf8')) as { problems?: Record<string, TypeProblem[]> }).problems ?? {},
  ).flat()
  const problems = found.filter(({ kind, entrypoint = '.', resolutionKind }) => {
    // This resolution knows no `exports`, so it sees the main entry only; it ended with TypeScript 6.
    if (kind === 'NoResolution' && resolutionKind === 'node10' && entrypoint !== '.') return false
    // What an entry is made for is a module only: vitest, Playwright, @msw/data.
    return !(kind === 'CJSResolvesToESM' && isModuleOnly(entrypoint))
  })
  expect(problems).toEqual([])
})

test('only what is needed is packed', () => {
  const files = execFileSync('tar', ['-tzf', inject('tarball')], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .sort()
  const strange = files.filter(
    (file) =>
      !/^package\/(?:dist\/[\w./-]+\.(?:js|cjs|d\.ts|d\.cts)|scenarios\/[\w-]+\.yaml|schema\/[\w.-]+\.json|docs\/[\w/-]+\.md|examples\/[\w/.-]+|package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|THIRD-PARTY-LICENSES\.md)$/.test(
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

test('no link of a page leads out of the package', () => {
  const pages = readdirSync(own, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  const dead = pages.flatMap((page) => {
    const prose = readFileSync(join(own, page), 'utf8').replace(/^```.*?^```$/gms, '')
    const targets = [...prose.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target]) => target!)
    return targets
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(own, dirname(page), target)))
      .map((target) => `${page}: ${target}`)
  })
  expect(pages.length).toBeGreaterThan(40)
  expect(dead).toEqual([])
})

test('runners and interception libraries are optional peers, and nothing installs a script', () => {
  expect(Object.keys(manifest.peerDependencies).sort()).toEqual(Object.keys(manifest.peerDependenciesMeta).sort())
  expect(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional)).toBe(true)
  expect(Object.keys(manifest.dependencies).sort()).toEqual([
    '@noble/hashes',
    '@valibot/to-json-schema',
    'citty',
    'croner',
    'rou3',
    'valibot',
    'yaml',
  ])
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean; resolved?: string; dev?: boolean }>
  }
  const scripted = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript && !entry.dev)
  expect(scripted).toEqual([])
  expect(['preinstall', 'install', 'postinstall'].filter((name) => name in manifest.scripts)).toEqual([])
})

test('only the entries that extend a runner have side effects', () => {
  const extend = Object.keys(manifest.exports).filter((path) => path.endsWith('/extend'))
  const listed = manifest.sideEffects.filter((path) => path.startsWith('./dist/'))
  for (const path of extend) expect(listed).toContain(`./dist/${path.slice(2)}.js`)
  expect(listed.filter((path) => !/\/extend\.c?js$/.test(path))).toEqual([])
})
