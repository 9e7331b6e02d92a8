import { createHash } from 'node:crypto'
import { constants, readlinkSync, realpathSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'

/** Held until `release`, or until the process ends, however it ends. */
export interface Lock {
  release(): Promise<void>
}

/**
 * Locks a file for one server; `undefined` where another one has it, in this process or in another of the machine.
 * The kernel holds the lock for the process, so that nothing is left of one that died: no file to clean up, no number
 * of a process to be taken for another one's.
 */
export function lockFile(path: string): Promise<Lock | undefined> {
  const name = `stuntdouble-state-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  if (process.platform === 'win32') return listen(`\\\\.\\pipe\\${name}`)
  // An address in the abstract name space, which has no file.
  if (process.platform === 'linux' || process.platform === 'android') return listen(`\0${name}`)
  return openLocked(join(tmpdir(), `${name}.lock`))
}

/** The file itself, whatever leads to it: two names of one file are one lock, and one place to write to. */
export function fileOf(path: string): string {
  const full = resolve(path)
  try {
    return realpathSync(full)
  } catch (error) {
    const above = dirname(full)
    if (above === full || (error as NodeJS.ErrnoException).code !== 'ENOENT') return full
    // It is not there yet, or a link that leads to what is not.
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

/** An address that only one can listen at. */
function listen(address: string): Promise<Lock | undefined> {
  return new Promise((done, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') done(undefined)
      else reject(error)
    })
    // Workers of a cluster share what they listen at, unless told otherwise.
    server.listen({ path: address, exclusive: true }, () => {
      server.unref()
      done({ release: () => new Promise((released) => server.close(() => released())) })
    })
  })
}

/** BSD's way to open a file and lock it in one step. */
const O_EXLOCK = 0x20

async function openLocked(path: string): Promise<Lock | undefined> {
  try {
    const { O_RDWR, O_CREAT, O_NONBLOCK, O_NOFOLLOW } = constants
    // The name is easy to guess: a link there would create a file elsewhere.
    const file = await open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_EXLOCK, 0o600)
    return { release: () => file.close() }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
