// `node test/support/version.ts`: turns the files of .changeset/ into the next version and its part of CHANGELOG.md.
// `changeset version` alone refuses: where there are workspaces, it takes the root for no package.
// Runs on Node's type stripping, so its syntax is erasable.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Json = Record<string, unknown>

/** Raises the version of both packages and of the lock file in this folder, and returns it. */
export function raiseVersion(root: string): string {
  const change = (name: string, how: (json: Json) => Json): void => {
    const file = join(root, name)
    writeFileSync(file, `${JSON.stringify(how(JSON.parse(readFileSync(file, 'utf8')) as Json), null, 2)}\n`)
  }
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  let version = (JSON.parse(manifest) as { version: string }).version
  try {
    change('package.json', ({ workspaces: _, ...rest }) => rest)
    execFileSync(process.execPath, ['node_modules/@changesets/cli/bin.js', 'version'], { cwd: root, stdio: 'inherit' })
    version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
  } finally {
    writeFileSync(join(root, 'package.json'), manifest)
  }
  change('package.json', (json) => ({ ...json, version }))
  change('packages/create-stuntdouble/package.json', (json) => ({
    ...json,
    version,
    dependencies: { stuntdouble: `^${version}` },
  }))
  change('package-lock.json', ({ packages, ...lock }) => {
    const { '': own, ...others } = packages as Record<string, Json>
    // In the order in which npm writes it.
    const { name, lockfileVersion, requires } = lock
    return { name, version, lockfileVersion, requires, packages: { '': { ...own, version }, ...others } }
  })
  return version
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(raiseVersion(process.cwd()))
