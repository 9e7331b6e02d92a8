import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BuildOptions } from 'esbuild'

const root = new URL('../..', import.meta.url).pathname

/** Where the entries of our workspaces lie: `@stuntdouble/lua` → its file. */
export const workspaceEntries: Readonly<Record<string, string>> = Object.fromEntries(
  globSync('packages/*/package.json', { cwd: root }).flatMap((file) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      readonly name: string
      readonly exports?: Readonly<Record<string, string>>
    }
    return Object.entries(exports).map(([entry, source]) => [join(name, entry), join(root, dirname(file), source)])
  }),
)

/** A program of ours in one file, without waiting for a whole build: packages of others are found as usual. */
export const programBundle = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  alias: workspaceEntries,
  logLevel: 'silent',
} satisfies BuildOptions
