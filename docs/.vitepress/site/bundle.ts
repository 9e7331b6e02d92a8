import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { play } from '../playground/core.ts'
import type { Message } from '../playground/messages.ts'
import { root } from './places.ts'

const folder = join(root, 'docs/.vitepress/playground')

/** Bundles the package and the playground into one module, which the playground's worker loads. */
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

/** Returns the code of the playground's examples by name. */
export function examples(): ReadonlyMap<string, string> {
  const files = readdirSync(join(folder, 'examples')).sort()
  return new Map(files.map((file) => [file.replace(/\.js$/, ''), readFileSync(join(folder, 'examples', file), 'utf8')]))
}

/** Runs code in this process, as the worker does in a page. */
export async function playHere(code: string, core: string): Promise<Message> {
  const { href } = pathToFileURL(core)
  const playground = (await import(href)) as { play: typeof play }
  return playground.play(code, href, (module) => import(`data:text/javascript,${encodeURIComponent(module)}`))
}
