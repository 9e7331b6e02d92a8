import { build, type Metafile } from 'esbuild'
import { expect, test } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

async function bundle(entry: string, external: string[] = []): Promise<{ code: string; inputs: Metafile['inputs'] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    external,
    logLevel: 'silent',
  })
  return { code: outputFiles[0]!.text, inputs: metafile.inputs }
}

/** `node_modules/@noble/hashes/sha2.js` → `@noble/hashes`. */
function packagesOf(inputs: Metafile['inputs']): string[] {
  const names = Object.keys(inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  return [...new Set(names.filter((name) => name !== undefined))].sort()
}

test('the core runs in a browser: no module of Node, no require, only its own packages', async () => {
  const { code, inputs } = await bundle('src/index.ts')
  expect(code).not.toMatch(/["'`]node:/)
  expect(code).not.toMatch(/\brequire\s*\(/)
  const allowed = ['@noble/hashes', '@orama/stemmers', 'croner', 'rou3', 'valibot']
  expect(packagesOf(inputs).filter((name) => !allowed.includes(name))).toEqual([])
  expect(
    Object.keys(inputs).filter((path) => /^(?:src\/adapters(?!\/timers\.ts)|packages\/server)\//.test(path)),
  ).toEqual([])
})

test('the entry for msw runs in a browser', async () => {
  const { code } = await bundle('src/adapters/msw.ts')
  expect(code).not.toMatch(/["'`]node:/)
  expect(code).not.toMatch(/\brequire\s*\(\s*["'`]/)
})

/** Returns the modules that are loaded with an entry, without dynamic imports. */
async function loadedWith(entry: string): Promise<{ texts: string[]; inputs: string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: 'nowhere',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    logLevel: 'silent',
  })
  const inputs: string[] = []
  const seen = new Set<string>()
  const add = (output: string): void => {
    if (seen.has(output)) return
    seen.add(output)
    const { inputs: own, imports } = metafile.outputs[output]!
    inputs.push(...Object.keys(own))
    for (const { path, kind } of imports) if (kind === 'import-statement') add(path)
  }
  add(`nowhere/${/([^/]+)\.ts$/.exec(entry)![1]}.js`)
  return { texts: outputFiles.map(({ text }) => text), inputs }
}

test('the client runs in a browser and loads the engine only for a snapshot', async () => {
  const { texts, inputs } = await loadedWith('src/client/connect.ts')
  for (const text of texts) expect(text).not.toMatch(/["'`]node:/)
  expect(inputs).toContain('src/client/connect.ts')
  expect(inputs.filter((path) => /^src\/(?:queue|protocol|sandbox)/.test(path))).toEqual([])
})

test('the core loads the engine of SEARCH commands and the stemmers only for a search', async () => {
  const { inputs } = await loadedWith('src/index.ts')
  expect(inputs).toContain('src/store/search/load-search.ts')
  expect(inputs.filter((path) => /^src\/store\/search\/(?!load-search|query-options|stems)|@orama/.test(path))).toEqual(
    [],
  )
})

test('the entry for msw does not contain the core', async () => {
  const { inputs } = await bundle('src/adapters/msw.ts', ['msw'])
  const own = ['fetch-layers', 'lookup', 'msw', 'real-hosts'].map((name) => `src/adapters/${name}.ts`)
  // Modules without state of a sandbox: they check options and versions, and recognize real hosts.
  const small = ['kernel/host', 'kernel/nearest-name', 'kernel/peers', 'kernel/shown-value']
  const hosts = ['protocol/address', 'protocol/dialect']
  expect(Object.keys(inputs).sort()).toEqual([...own, ...[...small, ...hosts].map((name) => `src/${name}.ts`)].sort())
})

test('the check detects a module of Node', async () => {
  await expect(bundle('src/sandbox/sandbox.ts')).resolves.toBeDefined()
  await expect(bundle('packages/server/src/listen-addresses.ts')).rejects.toThrow('node:net')
})

test('the entry for reports runs in a browser, and the core does not contain its page', async () => {
  const { code, inputs } = await bundle('src/report/index.ts')
  expect(code).not.toMatch(/["'`]node:/)
  expect(packagesOf(inputs).filter((name) => !['@noble/hashes', 'valibot'].includes(name))).toEqual([])
  expect(Object.keys(inputs)).toContain('packages/inspector/page/page-document.ts')
  const core = Object.keys((await bundle('src/index.ts')).inputs)
  expect(core.filter((path) => /^src\/report\/(?:html|load-trace|trace-schema|trace-difference)/.test(path))).toEqual(
    [],
  )
})
