import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { type FileSystem, writeWhole } from '@stuntdouble/command-line'
import * as v from 'valibot'
import { checkDump, type SandboxDump } from '../../../../src/sandbox/sandbox-dump.js'
import { tenantNameFlaw } from '../../../../src/sandbox/tenant-name.js'

/** All tenants of a server, by name. */
export type ServerState = Readonly<Record<string, SandboxDump>>

/** Error for a state file that cannot be used. The file is not changed. */
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

/**
 * Returns the content of a state file; empty if it does not exist.
 * @throws StateFileError for a damaged or unsupported file
 */
export function readState(path: string): ServerState {
  const content = contentOf(path)
  if (content === undefined) return {}
  const end = content.indexOf('\n')
  const head = v.safeParse(v.pipe(v.string(), v.parseJson(), heading), content.toString('utf8', 0, Math.max(end, 0)))
  if (!head.success) throw new StateFileError(`--state ${path} is not a state file of stuntdouble. ${kept}`)
  if (head.output.version !== version) {
    throw new StateFileError(
      `--state ${path} must have format version ${version} (got ${head.output.version}). ${kept}`,
    )
  }
  const body = content.subarray(end + 1)
  if (body.length !== head.output.bytes || sha256(body) !== head.output.sha256) {
    throw new StateFileError(`--state ${path} is damaged: its content does not match its checksum. ${kept}`)
  }
  return checkedState(path, body)
}

/**
 * Checks the content of a state file. A valid checksum means that the file is not damaged. It does not mean that this
 * package wrote the file.
 */
function checkedState(path: string, body: Buffer): ServerState {
  const parsed = v.safeParse(tenants, body.toString('utf8'))
  if (!parsed.success) throw new StateFileError(`--state ${path} contains no tenants. ${kept}`)
  for (const [name, dump] of Object.entries(parsed.output)) {
    const flaw = tenantNameFlaw(name)
    if (flaw !== undefined) {
      throw new StateFileError(
        `--state ${path} cannot be loaded: ${JSON.stringify(name)} is not a valid tenant name: ${flaw} ${kept}`,
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

/** Returns the error for a file with a tenant that cannot be restored. */
export function unusable(path: string, tenant: string, { message }: Error): StateFileError {
  return new StateFileError(`--state ${path} cannot be loaded: tenant ${tenant}: ${sentence(message)} ${kept}`)
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

const kept = 'The file was not changed. Move it away, or use another file with --state.'

function contentOf(path: string): Buffer | undefined {
  let file: number | undefined
  try {
    // Set O_NONBLOCK. Without it, opening a pipe would wait until another process opens the pipe.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = fstatSync(file)
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw new Error('it is a device or a pipe')
    return readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    const what = code === 'EISDIR' ? 'is a directory' : `cannot be read: ${(error as Error).message}`
    throw new StateFileError(`--state ${path} ${what}. Use a file, which is created if it does not exist.`)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Writes a state. Only its owner may read the file, because it contains the data of the tenants. */
export async function writeState(path: string, state: ServerState, files?: FileSystem): Promise<void> {
  const body = Buffer.from(JSON.stringify(state), 'utf8')
  const head = JSON.stringify({ format: mark, version, bytes: body.length, sha256: sha256(body) })
  await writeWhole(path, Buffer.concat([Buffer.from(`${head}\n`, 'utf8'), body]), 0o600, files)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
