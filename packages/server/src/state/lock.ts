import { createHash } from 'node:crypto'
import { constants, readlinkSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

/** A lock on a file. It ends with `release()`, or when the process ends for any reason. */
export interface Lock {
  release(): Promise<void>
}

/**
 * Locks a file for one server. Returns `undefined` if another server on this machine has locked the file, in this
 * process or in another one. The kernel keeps the lock, so the lock ends with its process. Nothing remains afterwards:
 * neither a lock file, nor a process ID that another process could get.
 */
export function lockFile(path: string): Promise<Lock | undefined> {
  const name = `stuntdouble-state-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return listen(`\\\\.\\pipe\\${name}`)
  // On Linux, listen on a name in the abstract namespace, which creates no file.
  if (process.platform === 'linux' || process.platform === 'android') return listen(`\0${name}`)
  return openLocked(join(tmpdir(), `${name}.lock`))
}

/**
 * Returns the real path of a file. If a file has two paths, both must lead to the same lock and to the same written
 * file.
 */
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
    // Do not follow links. The name is easy to guess, so another user could have created a link with this name.
    const file = await open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_EXLOCK, 0o600)
    return { release: () => file.close() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
