import { open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

/** File operations that `writeWhole()` uses. Tests replace them with operations that fail or hang. */
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
 * Writes a file atomically: to `FILE.new`, flushed, then renamed. If the machine stops before the rename, the file
 * keeps its previous content.
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
    // Remove the incomplete file, for example after the disk was full.
    await files.unlink(beside).catch(() => undefined)
    throw error
  }
  await syncDirectory(dirname(path), files)
}

/**
 * Creates a new file. If a file with this name exists, it is deleted first, because a killed process or an attacker may
 * have created it. Writing to it would be unsafe: a link would redirect the content, a pipe would block the write, and
 * a file would keep its owner and permissions.
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

/**
 * Flushes the directory, so that the new name reaches the disk. Some systems cannot open or flush a directory. Their
 * errors are ignored.
 */
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
