import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as v from 'valibot'
import type { SandboxDump } from '../sandbox-dump.js'

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

/** What a file holds; nothing when there is none. @throws StateFileError for one that is damaged or of another kind */
export function readState(path: string): ServerState {
  const content = contentOf(path)
  if (content === undefined) return {}
  const end = content.indexOf('\n')
  const head = v.safeParse(v.pipe(v.string(), v.parseJson(), heading), content.toString('utf8', 0, Math.max(end, 0)))
  if (!head.success) throw new StateFileError(`${path} is no state file of stuntdouble. ${kept}`)
  if (head.output.version !== version) {
    throw new StateFileError(
      `${path} has version ${head.output.version} of the format, and this stuntdouble reads version ${version}. ${kept}`,
    )
  }
  const body = content.subarray(end + 1)
  if (body.length !== head.output.bytes || sha256(body) !== head.output.sha256) {
    throw new StateFileError(`${path} is damaged: its content does not fit its checksum. ${kept}`)
  }
  return JSON.parse(body.toString('utf8')) as ServerState
}

/** A file whose tenants cannot be made again. */
export function unusable(path: string, { message }: Error): StateFileError {
  return new StateFileError(`${path} cannot be loaded: ${message} ${kept}`)
}

const kept = 'It was left as it is; move it away, or give another file with --state.'

function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new StateFileError(`${path} cannot be read: ${(error as Error).message}.`)
  }
}

/**
 * Writes a state so that the file is always whole: beside it first, then to the disk, then in its place. A machine that
 * stops meanwhile leaves the state of before.
 */
export async function writeState(path: string, state: ServerState): Promise<void> {
  const body = Buffer.from(JSON.stringify(state), 'utf8')
  const head = JSON.stringify({ format: mark, version, bytes: body.length, sha256: sha256(body) })
  const beside = `${path}.new`
  const file = await open(beside, 'w', 0o600)
  try {
    await file.writeFile(Buffer.concat([Buffer.from(`${head}\n`, 'utf8'), body]))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(beside, path)
  await syncDirectory(dirname(path))
}

/** The new name reaches the disk with its directory. Some systems cannot do that. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined)
  await directory?.sync().catch(() => undefined)
  await directory?.close()
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
