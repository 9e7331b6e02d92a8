import { createHash } from 'node:crypto'
import { constants, readlinkSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

/** A lock that is held until `release`, or until the process ends for any reason. */
export interface Lock {
  release(): Promise<void>
}

/**
 * Locks a file for one server. Returns `undefined` if another server has it, in this process or in another one on this
 * machine. The kernel holds the lock, so a process that died leaves nothing behind: no file to delete, and no process
 * ID that another process may get.
 */
export function lockFile(path: string): Promise<Lock | undefined> {
  const name = `stuntdouble-state-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return listen(`\\\\.\\pipe\\${name}`)
  // On Linux, a name in the abstract namespace has no file.
  if (process.platform === 'linux' || process.platform === 'android') return listen(`\0${name}`)
  return openLocked(join(tmpdir(), `${name}.lock`))
}

/** Returns the real path of a file, so that two names of one file have one lock and one place to write to. */
export function fileOf(path: string): string {
  const full = resolve(path)
  try {
    return realpathSync(full)
  } catch (error) {
    const above = dirname(full)
    if (above === full || (error as NodeJS.ErrnoException).code !== 'ENOENT') return full
    // The file does not exist yet, or is a link to a file that does not exist.
    const target = linked(full)
    return target === undefined ? join(fileOf(above), basename(full)) : fileOf(resolve(above, target))
  }
}

function linked(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Listens at an address that only one server can use. */
function listen(address: string): Promise<Lock | undefined> {
  return new Promise((done, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') done(undefined)
      else reject(error)
    })
    // Workers of node:cluster share their addresses unless `exclusive` is set.
    server.listen({ path: address, exclusive: true }, () => {
      server.unref()
      done({ release: () => new Promise((released) => server.close(() => released())) })
    })
  })
}

/** Flag of BSD systems that opens and locks a file in one step. */
const O_EXLOCK = 0x20

async function openLocked(path: string): Promise<Lock | undefined> {
  try {
    const { O_RDWR, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants
    // The name is easy to guess, and a link with this name would create a file elsewhere.
    const file = await open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_EXLOCK, 0o600)
    return { release: () => file.close() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
