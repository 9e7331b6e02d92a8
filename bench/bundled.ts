import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { createSandbox } from 'stuntdouble'

export type Create = typeof createSandbox

const root = fileURLToPath(new URL('..', import.meta.url))

/** Imports of the core that `fault-points.ts` replaces. */
const instead = ['../protocol/gateway.js', '../queue/queue-engine.js', '../store/rest/store-endpoints.js']

/** The files with these imports. */
const importers = ['core', 'region-of'].map((name) => join(root, `src/sandbox/${name}.ts`))

/** Texts of bundles, with or without fault points. A figure runs several copies of each. */
const texts = new Map<boolean, Promise<Uint8Array>>()

/** Bundles the sources as a separate module, with or without fault points; both are built in the same way. */
export async function bundled(withPoints: boolean): Promise<Create> {
  const known = texts.get(withPoints) ?? builtText(withPoints)
  texts.set(withPoints, known)
  const directory = await mkdtemp(join(tmpdir(), 'stuntdouble-bench-'))
  try {
    const file = join(directory, 'bundle.mjs')
    await writeFile(file, await known)
    return ((await import(pathToFileURL(file).href)) as { createSandbox: Create }).createSandbox
  } finally {
    await rm(directory, { recursive: true })
  }
}

async function builtText(withPoints: boolean): Promise<Uint8Array> {
  const seen = new Set<string>()
  const plugin: Plugin = {
    name: 'fault points',
    setup(given) {
      given.onResolve({ filter: /^\.\./ }, ({ path, importer }) => {
        if (!instead.includes(path) || !importers.includes(importer)) return undefined
        seen.add(path)
        return { path: join(root, 'bench/fault-points.ts') }
      })
    },
  }
  const { outputFiles } = await build({
    entryPoints: [join(root, 'src/index.ts')],
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    define: { FAULT_POINTS: String(withPoints) },
    plugins: [plugin],
  })
  const missing = instead.filter((path) => !seen.has(path))
  if (missing.length > 0) throw new Error(`The sandbox does not import ${missing.join(', ')} any more.`)
  return outputFiles![0]!.contents
}
