// `node test/support/complete-lock-file.ts`, after `npm install` has changed package-lock.json.
//
// npm writes only those optional packages into the lock file that the registry at hand carries; a mirror may lack the
// binaries of other platforms. `npm ci` then refuses the lock file. This adds what is missing: version and platform,
// without a digest, so that every other platform skips it and its own one takes it by version.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface Locked {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

interface LockFile {
  packages: Record<string, Locked>
}

/** Optional packages that something names and the lock file does not have, by their place in it. */
export function missingOptional({ packages }: LockFile): [place: string, entry: Locked][] {
  const missing: [string, Locked][] = []
  for (const [place, { optionalDependencies = {}, dev }] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const own = `node_modules/${name}`
      if (packages[own] !== undefined || packages[`${place}/${own}`] !== undefined) continue
      missing.push([own, { version, ...platformOf(name), ...(dev === true && { dev }), optional: true }])
    }
  }
  return missing
}

/** `@rollup/rollup-linux-arm-musleabihf` → linux, arm, musl. */
function platformOf(name: string): Pick<Locked, 'os' | 'cpu' | 'libc'> {
  const match =
    /(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)-(arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64)/.exec(
      name,
    )
  if (match === null) throw new Error(`The platform of ${name} cannot be told from its name.`)
  const libc = match[1] !== 'linux' ? undefined : /musl/.test(name) ? 'musl' : 'glibc'
  return { os: [match[1]!], cpu: [match[2]!], ...(libc !== undefined && { libc: [libc] }) }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const file = new URL('../../package-lock.json', import.meta.url)
  const lock = JSON.parse(readFileSync(file, 'utf8')) as LockFile
  const missing = missingOptional(lock)
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) })
  const sorted = packages.sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
  console.log(`Added ${missing.length} packages.`)
}
