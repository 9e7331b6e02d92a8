import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

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

const nodeFiles: FileSystem = { open, rename, unlink }

/**
 * Writes a file so that it is always whole: to `FILE.new`, flushed, then renamed. A machine that stops in between
 * leaves the previous content.
 * @param mode permissions of the file, before the umask
 */
export async function writeWhole(
  path: string,
  content: Uint8Array,
  mode: number,
  files: FileSystem = nodeFiles,
): Promise<void> {
  const beside = `${path}.new`
  try {
    const file = await createdBeside(beside, mode, files)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await files.rename(beside, path)
  } catch (error) {
    // A full disk must not keep half a file as well.
    await files.unlink(beside).catch(() => undefined)
    throw error
  }
  await syncDirectory(dirname(path), files)
}

/**
 * Creates the file itself. What has the name already is left of a process that was killed, or was planted: a link would
 * lead the content elsewhere, a pipe would block the write, and a file would keep its owner and its permissions.
 */
async function createdBeside(path: string, mode: number, files: FileSystem): Promise<OpenFile> {
  try {
    return await files.open(path, 'wx', mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    await files.unlink(path)
    return files.open(path, 'wx', mode)
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
