import { readFile, stat } from 'node:fs/promises'
import { UsageError } from '@stuntdouble/command-line'
import { maxFile } from './tenant-scenario/scenario-file.js'

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  EISDIR: 'It is a directory.',
  EACCES: 'Permission was denied.',
}

/** The text of a file, `-` for the standard input. @throws UsageError */
export async function readText(file: string, largest: number = maxFile): Promise<string> {
  if (file === '-') return standardInput(largest)
  try {
    const { size } = await stat(file)
    if (size > largest) throw new UsageError(`${file} has ${size} bytes; ${largest} are allowed.`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `${file} cannot be read. ${sentences[(error as NodeJS.ErrnoException).code ?? ''] ?? (error as Error).message}`,
    )
  }
}

async function standardInput(largest: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largest) throw new UsageError(`The standard input has more than ${largest} bytes, which are allowed.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
