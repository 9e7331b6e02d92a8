import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'
import { checkDump, type SandboxDump } from '../../sandbox/dump.js'
import { isTenantName } from '../tenant-name.js'

/** Every tenant of a server by name. */
export type ServerState = Readonly<Record<string, SandboxDump>>

/** A state file that cannot be used. It is kept as it is. */
export class StateFileError extends Error {}

const mark = 'stuntdouble-state'
const version = 1

const heading = v.strictObject({
  format: v.literal(mark),
  version: v.number(),
  bytes: v.pipe(v.number(), v.integer()),
  sha256: v.string(),
})

const tenants = v.pipe(
  v.string(),
  v.parseJson(),
  v.custom<ServerState>((given) => typeof given === 'object' && given !== null && !Array.isArray(given)),
)

/** What a file holds; nothing when there is none. @throws StateFileError for one that is damaged or of another kind */
export function readState(path: string): ServerState {
  const content = contentOf(path)
  if (content === undefined) return {}
  const end = content.indexOf('\n')
  const head = v.safeParse(v.pipe(v.string(), v.parseJson(), heading), content.toString('utf8', 0, Math.max(end, 0)))
  if (!head.success) throw new StateFileError(`${path} is not a state file of stuntdouble. ${kept}`)
  if (head.output.version !== version) {
    throw new StateFileError(
      `${path} has version ${head.output.version} of the format, and this stuntdouble reads version ${version}. ${kept}`,
    )
  }
  const body = content.subarray(end + 1)
  if (body.length !== head.output.bytes || sha256(body) !== head.output.sha256) {
    throw new StateFileError(`${path} is damaged: its content does not match its checksum. ${kept}`)
  }
  return checkedState(path, body)
}

/** The checksum tells that nothing was damaged on the disk, not who wrote it. */
function checkedState(path: string, body: Buffer): ServerState {
  const parsed = v.safeParse(tenants, body.toString('utf8'))
  if (!parsed.success) throw new StateFileError(`${path} holds no tenants. ${kept}`)
  for (const [name, dump] of Object.entries(parsed.output)) {
    if (!isTenantName(name)) {
      throw new StateFileError(
        `${path} cannot be loaded: ${JSON.stringify(name)} cannot be the name of a tenant. ${kept}`,
      )
    }
    try {
      checkDump(dump)
    } catch (error) {
      throw unusable(path, name, error as Error)
    }
  }
  return parsed.output
}

/** A file one of whose tenants cannot be made again. */
export function unusable(path: string, tenant: string, { message }: Error): StateFileError {
  return new StateFileError(`${path} cannot be loaded: tenant ${tenant}: ${sentence(message)} ${kept}`)
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

const kept = 'It was left as it is; move it away, or give another file with --state.'

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const what = code === 'EISDIR' ? 'is a directory' : `cannot be read: ${(error as Error).message}`
    throw new StateFileError(`${path} ${what}. Give a file with --state; it is created if there is none.`)
  }
}

/** What writing needs of a file system; a test may bring one that fails or hangs. */
export interface FileSystem {
  open(path: string, flags: string, mode?: number): Promise<OpenFile>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
}

export interface OpenFile {
  writeFile(content: Uint8Array): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

export const nodeFiles: FileSystem = { open, rename, unlink }

/**
 * Writes a state so that the file is always whole: to a temporary file, flushed, then renamed. A machine that
 * stops in between leaves the previous state.
 */
export async function writeState(path: string, state: ServerState, files: FileSystem = nodeFiles): Promise<void> {
  const body = Buffer.from(JSON.stringify(state), 'utf8')
  const head = JSON.stringify({ format: mark, version, bytes: body.length, sha256: sha256(body) })
  const beside = `${path}.new`
  try {
    await writeWhole(await files.open(beside, 'w', 0o600), Buffer.concat([Buffer.from(`${head}\n`, 'utf8'), body]))
    await files.rename(beside, path)
  } catch (error) {
    // A full disk must not keep half a state as well.
    await files.unlink(beside).catch(() => undefined)
    throw error
  }
  await syncDirectory(dirname(path), files)
}

async function writeWhole(file: OpenFile, content: Uint8Array): Promise<void> {
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The new name reaches the disk with its directory. Some systems cannot open one, or cannot do that with it. */
async function syncDirectory(path: string, files: FileSystem): Promise<void> {
  const directory = await files.open(path, 'r').catch(() => undefined)
  if (directory === undefined) return
  try {
    await directory.sync()
  } catch (error) {
    if (
      !['EINVAL', 'EPERM', 'EACCES', 'EBADF', 'ENOTSUP', 'ENOSYS'].includes(
        String((error as NodeJS.ErrnoException).code),
      )
    )
      throw error
  } finally {
    await directory.close()
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
