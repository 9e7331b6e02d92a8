import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ArchiveError, readArchive } from './archive.js'
import { type Extract, readPackage } from './read-package.js'

/** The packages whose newest versions are compared. */
export const vendorPackages: readonly string[] = [
  ...['redis', 'qstash', 'workflow', 'ratelimit', 'lock', 'realtime', 'cli'].map((name) => `@upstash/${name}`),
]

/** The packages could not be fetched. */
export class FetchError extends Error {
  override name = 'FetchError'
}

/** Longest time that npm may take, in milliseconds. */
const patience = 40_000

/**
 * Fetches packages from the registry that npm is configured for, and reads them. npm only downloads: nothing is
 * installed, unpacked or run.
 * @param specs names, which mean the newest versions, or names with versions
 * @param containersWhenFetched returns the names of commands that have subcommands
 * @throws FetchError
 * @throws ArchiveError with the name of the file
 */
export async function readFromNpm(
  specs: readonly string[],
  containersWhenFetched: () => ReadonlySet<string>,
): Promise<Extract[]> {
  const folder = mkdtempSync(join(tmpdir(), 'stuntdouble-packages-'))
  try {
    await pack(specs, folder)
    const files = readdirSync(folder).filter((file) => file.endsWith('.tgz'))
    if (files.length !== specs.length) throw new FetchError(`npm delivered ${files.length} of ${specs.length} packages`)
    const containers = containersWhenFetched()
    return files.sort().map((file) => {
      try {
        return readPackage(readArchive(readFileSync(join(folder, file))), containers)
      } catch (error) {
        throw new ArchiveError(`${file}: ${(error as Error).message}`)
      }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function pack(specs: readonly string[], folder: string): Promise<void> {
  const options = [
    ...['--json', '--ignore-scripts', '--prefer-online', '--pack-destination', folder],
    // Without a network, npm would try again for more than a minute.
    ...['--fetch-retries', '1', '--fetch-retry-mintimeout', '1000', '--fetch-timeout', '20000'],
  ]
  // `--` keeps a name that begins with a hyphen from becoming an option.
  const child = spawn('npm', ['pack', ...options, '--', ...specs], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: patience,
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(new FetchError(`npm did not start: ${error.message}`)))
    child.on('close', resolve)
  })
  if (status === 0) return
  const reason = status === null ? `no response within ${patience / 1000} seconds` : codeIn(output)
  throw new FetchError(`npm could not fetch the packages (${reason}): check the network and the registry of npm.`)
}

/** Returns the code of the error that npm reports as JSON: `ENOTFOUND`. */
function codeIn(output: string): string {
  return /"code":\s*"(\w+)"/.exec(output)?.[1] ?? 'unknown error'
}
