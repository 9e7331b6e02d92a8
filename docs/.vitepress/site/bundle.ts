import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Said } from '../playground/messages.ts'
import type { play } from '../playground/world.ts'
import { root } from './places.ts'

const folder = join(root, 'docs/.vitepress/playground')

/** The core, as one module for the playground's worker. */
export async function bundleCore(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'worker.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  })
}

/** The playground's examples: their names and their code. */
export function examples(): ReadonlyMap<string, string> {
  const files = readdirSync(join(folder, 'examples')).sort()
  return new Map(files.map((file) => [file.replace(/\.js$/, ''), readFileSync(join(folder, 'examples', file), 'utf8')]))
}

/** Plays code here, as the worker does in a page. */
export async function playHere(code: string, core: string): Promise<Said> {
  const { href } = pathToFileURL(core)
  const world = (await import(href)) as { play: typeof play }
  return world.play(code, href, (module) => import(`data:text/javascript,${encodeURIComponent(module)}`))
}
