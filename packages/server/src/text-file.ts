import { readFile, stat } from 'node:fs/promises'
import { UsageError } from '@stuntdouble/command-line'
import { maxFile } from './tenant-scenario/scenario-file.js'

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'The file does not exist.',
  EISDIR: 'It is a directory.',
  EACCES: 'Permission was denied.',
}

/**
 * Reads the text of a file, or of standard input for `-`.
 * @throws UsageError when the file cannot be read or is too large
 */
export async function readText(file: string, largest: number = maxFile): Promise<string> {
  if (file === '-') return standardInput(largest)
  try {
    const { size } = await stat(file)
    if (size > largest) throw new UsageError(`${file} must have at most ${largest} bytes (got ${size}).`)
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
    if (size > largest) throw new UsageError(`Standard input must have at most ${largest} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
