import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuildOptions } from 'esbuild'

const root = new URL('../..', import.meta.url).pathname

/** Files of the workspaces' entries: `@stuntdouble/lua` → its file. */
export const workspaceEntries: Readonly<Record<string, string>> = Object.fromEntries(
  globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      readonly name: string
      readonly exports?: Readonly<Record<string, string>>
    }
    return Object.entries(exports).map(([entry, source]) => [join(name, entry), join(root, dirname(file), source)])
  }),
)

/** Bundles a program of this repository into one file without a full build. Other packages are resolved as usual. */
export const programBundle = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  alias: workspaceEntries,
  logLevel: 'silent',
} satisfies BuildOptions
