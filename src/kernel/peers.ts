import { builtin, hostDirectory } from './host.js'

type OldestVersion = readonly [major: number, minor: number]

/** The optional peers that have versions which are too old. */
export type Peer =
  | '@modelcontextprotocol/server'
  | '@playwright/test'
  | 'fast-check'
  | 'ioredis'
  | 'jest'
  | 'msw'
  | 'nock'
  | 'redis'
  | 'vitest'

/** Oldest supported version of each. */
export const oldestPeers: Readonly<Record<Peer, OldestVersion>> = {
  '@modelcontextprotocol/server': [2, 0],
  '@playwright/test': [1, 50],
  'fast-check': [3, 0],
  ioredis: [5, 0],
  jest: [29, 0],
  msw: [2, 0],
  nock: [14, 0],
  redis: [5, 0],
  vitest: [3, 2],
}

/**
 * Peers whose older versions no part of this package works with. Older versions of the other peers lack at most single
 * functions, so they are only untested.
 */
const needed: readonly string[] = ['fast-check', 'msw', 'nock'] satisfies readonly Peer[]

/**
 * Returns the problem with an installed version, as the end of a message: `is too old: …`. Returns `undefined` if the
 * version is supported, or if this package supports all versions.
 */
export function problemWith(
  name: string,
  version: string,
): { readonly fails: boolean; readonly text: string } | undefined {
  const oldest = Object.hasOwn(oldestPeers, name) ? oldestPeers[name as Peer] : undefined
  if (oldest === undefined || !isOlder(version, oldest)) return undefined
  const supported = `stuntdouble supports ${oldest.join('.')} and later`
  return needed.includes(name)
    ? { fails: true, text: `is too old: ${supported}` }
    : { fails: false, text: `is not tested: ${supported}, but most of it works with older versions` }
}

/** What a part of this package needs. */
interface PeerNeed {
  readonly peer: Peer
  /** Oldest version that this part supports, if it is newer than the one of the table. */
  readonly oldest?: OldestVersion
  /** What the user can do instead of an update: `use stuntdouble/fetch`. */
  readonly instead: string
}

/**
 * Throws if the installed version of a peer is too old. The ranges in package.json accept every version, because npm
 * installs nothing at all if a version outside of a range is installed.
 * @param part what needs the peer: `stuntdouble/msw`
 * @param isSupported whether the peer has something that older versions lack. Bundles and browsers know no version
 */
export function checkPeer(part: string, isSupported: boolean, need: PeerNeed): void {
  if (!isSupported) throw new Error(tooOld(part, need, installedVersion(need.peer)))
}

/** Returns the message about a peer that is too old. @param version the installed version, if it is known */
export function tooOld(
  part: string,
  { peer, oldest = oldestPeers[peer], instead }: PeerNeed,
  version: string | undefined,
): string {
  // The working directory can have another version than the package that imports the peer.
  const installed = version !== undefined && isOlder(version, oldest) ? version : 'an older version'
  const wanted = oldest[1] === 0 ? oldest[0] : oldest.join('.')
  return `${part} needs ${peer} ${wanted} or newer (installed: ${installed}). Update ${peer}, or ${instead}.`
}

/** Returns whether a version is older than the oldest supported one. A build from sources has no real version. */
export function isOlder(version: string, [major, minor]: OldestVersion): boolean {
  if (version.startsWith('0.0.0')) return false
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

/**
 * Returns the version of an installed package, or `undefined` if it is unknown: in browsers, in Deno without the
 * permission to read files, in a bundle, and if its package.json is damaged. Never throws, because entries call it while
 * they load.
 * @param from path or URL of the file that imports the package. Default: a file in the working directory
 */
export function installedVersion(name: string, from?: string): string | undefined {
  const directory = hostDirectory()
  const start = from ?? (directory === undefined ? undefined : `${directory}/package.json`)
  try {
    return start === undefined ? undefined : versionIn(name, start)
  } catch {
    return undefined
  }
}

function versionIn(name: string, from: string): string | undefined {
  const modules = builtin('module') as Modules | undefined
  const files = builtin('fs') as Files | undefined
  if (modules === undefined || files === undefined) return undefined
  // Many packages do not export their package.json, so it is read as a file.
  for (const folder of modules.createRequire(from).resolve.paths(name) ?? []) {
    const path = `${folder}/${name}/package.json`
    if (!files.existsSync(path)) continue
    const { version } = JSON.parse(files.readFileSync(path, 'utf8')) as { readonly version?: unknown }
    return typeof version === 'string' ? version : undefined
  }
  return undefined
}

interface Modules {
  createRequire(from: string): { readonly resolve: { paths(name: string): readonly string[] | null } }
}

interface Files {
  existsSync(path: string): boolean
  readFileSync(path: string, encoding: 'utf8'): string
}
