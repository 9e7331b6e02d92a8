/** Lets Node.js run TypeScript sources: `node --import ./test/support/typescript-sources.mjs script.ts`. */
import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { buildInspector } from '../../packages/inspector/build.ts'

await buildInspector()

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.startsWith('file:')) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL)
      if (existsSync(fileURLToPath(source))) return { url: source.href, shortCircuit: true }
    }
    return next(specifier, context)
  },
})
