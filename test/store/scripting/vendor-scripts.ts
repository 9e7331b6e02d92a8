import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Lua script as an npm package of the vendor contains it, read from the installed package. */
export interface VendorScript {
  readonly name: string
  readonly source: string
}

const require = createRequire(import.meta.url)

/** Returns all scripts of a package, in order; `bare` are minified or inlined ones, named by their number. */
export function vendorScripts(packageName: string): readonly VendorScript[] {
  const text = readFileSync(join(packageDirectory(packageName), 'dist/index.mjs'), 'utf8')
  const scripts: VendorScript[] = []
  for (const [, name = '', raw = ''] of text.matchAll(/(\w+)\s*=\s*`((?:[^`\\]|\\.)*)`/gs)) {
    if (raw.includes('redis.call')) scripts.push({ name, source: cooked(raw, text) })
  }
  return scripts
}

/** Returns the SHA1 digests by which a package knows its scripts: name, then digest. */
export function vendorDigests(packageName: string): readonly (readonly [name: string, digest: string])[] {
  const text = readFileSync(join(packageDirectory(packageName), 'dist/index.mjs'), 'utf8')
  return [...text.matchAll(/script: (\w+),\s*hash: "([0-9a-f]{40})"/g)].map(([, name, digest]) => [name!, digest!])
}

export function vendorScript(packageName: string, name: string | number): string {
  const scripts = vendorScripts(packageName)
  const found = typeof name === 'number' ? scripts[name] : scripts.find((script) => script.name === name)
  if (found === undefined) throw new Error(`${packageName} has no script ${name}`)
  return found.source
}

function packageDirectory(name: string): string {
  return dirname(require.resolve(`${name}/package.json`))
}

/** Returns the text of a template literal with its constants. */
function cooked(raw: string, text: string): string {
  const filled = raw.replace(/\$\{(\w+)\}/g, (_, constant: string) => {
    const value = new RegExp(`(?:var|const|let) ${constant} = ([^;]+);`).exec(text)?.[1]
    if (value === undefined) throw new Error(`${constant} is not a plain constant`)
    return value
  })
  return filled.replace(/\\(.)/gs, '$1')
}
