import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { workspaceEntries } from './test/support/bundle.ts'
import { entries, moduleEntries } from './test/support/entries.ts'

// The declarations of the build. Each file says its types itself (`isolatedDeclarations`), so no compiler is needed.

/** The types of our workspaces come along, as their code does. Only installed packages are named. */
const isInstalled = (id: string): boolean => /^[@\w]/.test(id) && !(id in workspaceEntries)

/**
 * The entries' declarations for CommonJS, where TypeScript wants files of their own. What entries share is written once,
 * for CommonJS, which both can import: then a class is one type however it is loaded, and the package is smaller.
 */
const alsoForCommonJs: Plugin = {
  name: 'also-for-commonjs',
  writeBundle({ dir = '' }, bundle) {
    for (const [file, chunk] of Object.entries(bundle)) {
      if (chunk.type !== 'chunk') continue
      if (/from "\.[^"]*\.js"/.test(chunk.code))
        throw new Error(`${file} imports an entry: its types would be there twice.`)
      if (chunk.isEntry && chunk.name in entries) writeFileSync(join(dir, file.replace(/\.ts$/, '.cts')), chunk.code)
    }
  },
}

const { 'vitest4/extend': vitest4, ...generated } = moduleEntries

export default defineConfig({
  // A path without a dot in front would be an installed package.
  input: Object.fromEntries(
    Object.entries({ ...entries, ...generated }).map(([name, source]) => [name, `./${source}`]),
  ),
  external: isInstalled,
  resolve: { alias: workspaceEntries },
  plugins: [dts({ dtsOnly: true, generator: 'oxc', oxc: { stripInternal: true } }), alsoForCommonJs],
  output: { dir: 'dist', format: 'es', chunkFileNames: 'types/[name].cjs' },
})
