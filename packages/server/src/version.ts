import { createRequire } from 'node:module'

/** Asked of the package by its own name, because this file moves when it is built. */
export function version(): string {
  const { version } = createRequire(import.meta.url)('stuntdouble/package.json') as { version: string }
  return version
}
