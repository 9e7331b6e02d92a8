// `node build.ts` builds the code of the package. The declarations are a step of their own, rolldown.config.ts.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { buildInspector } from './packages/inspector/build.ts'
import { buildCode } from './rolldown.code.ts'

await buildInspector()
rmSync('dist', { recursive: true, force: true })
cpSync('packages/server/scenarios', 'dist/scenarios', { recursive: true })
cpSync('matchers/vitest4-types.d.ts', 'dist/vitest4/extend.d.ts')
// The texts of the inspector are large, so both formats share them: modules import CommonJS as well.
for (const name of ['page-text', 'editor-text']) {
  const code = readFileSync(`packages/inspector/page/${name}.js`, 'utf8')
  writeFileSync(`dist/${name}.cjs`, code.replace(/^export const (\w+) =/gm, 'exports.$1 ='))
}
await buildCode()
