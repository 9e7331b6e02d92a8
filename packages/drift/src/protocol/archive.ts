import { gunzipSync } from 'node:zlib'

/** Limits for one archive. The largest package that is read today has 0.4 MB packed, 3 MB unpacked and 250 files. */
export interface ArchiveLimits {
  readonly maxPackedBytes: number
  readonly maxBytes: number
  readonly maxFileBytes: number
  readonly maxFiles: number
  /** Maximum unpacked size, divided by the packed size. */
  readonly maxRatio: number
}

export const archiveLimits: ArchiveLimits = {
  maxPackedBytes: 20_000_000,
  maxBytes: 100_000_000,
  maxFileBytes: 10_000_000,
  maxFiles: 5_000,
  maxRatio: 100,
}

/** An archive that is damaged, too large or hostile. Nothing of it is used. */
export class ArchiveError extends Error {
  override name = 'ArchiveError'
}

const blockSize = 512
const emptyBlock = new Uint8Array(blockSize)
/** A small archive may have a large ratio, because zeros between its files compress well. */
const freeBytes = 1_000_000

/**
 * Reads a `.tgz` of npm into memory. Nothing is written to disk and nothing is run. The first folder of each path is
 * removed, as npm does.
 * @returns the contents by path
 * @throws ArchiveError
 */
export function readArchive(packed: Uint8Array, limits: ArchiveLimits = archiveLimits): Map<string, Uint8Array> {
  if (packed.length > limits.maxPackedBytes)
    throw new ArchiveError(`the archive has more than ${limits.maxPackedBytes} bytes`)
  const maxBytes = Math.min(limits.maxBytes, Math.max(freeBytes, packed.length * limits.maxRatio))
  const tar = unzipped(packed, maxBytes)
  const files = new Map<string, Uint8Array>()
  let next: { path?: string; size?: number } = {}
  let entries = 0
  for (let at = 0; at + blockSize <= tar.length; ) {
    const header = tar.subarray(at, at + blockSize)
    at += blockSize
    if (Buffer.compare(header, emptyBlock) === 0) continue
    if (++entries > limits.maxFiles) throw new ArchiveError(`the archive has more than ${limits.maxFiles} entries`)
    checkSum(header)
    const type = String.fromCharCode(header[156]!)
    // Extended attributes describe the next entry that is not one of them.
    const isAttribute = type === 'x' || type === 'g' || type === 'L'
    const size = (isAttribute ? undefined : next.size) ?? numberIn(header, 124, 12)
    if (size > limits.maxFileBytes) throw new ArchiveError(`an entry has more than ${limits.maxFileBytes} bytes`)
    if (at + size > tar.length) throw new ArchiveError('an entry ends after the end of the archive')
    const content = tar.subarray(at, at + size)
    at += Math.ceil(size / blockSize) * blockSize
    if (type === 'x') {
      next = { ...next, ...paxOf(content) }
      continue
    }
    if (type === 'L') {
      next = { ...next, path: textIn(content, 0, content.length) }
      continue
    }
    // Attributes for all entries: a comment by git, or a path, which no archive of npm has.
    if (type === 'g') {
      if (paxOf(content).path !== undefined) throw new ArchiveError('the archive sets one path for all entries')
      continue
    }
    const path = safePath(next.path ?? pathIn(header))
    next = {}
    if (type === '5') continue
    if (type !== '0' && type !== '\0') throw new ArchiveError(`${JSON.stringify(path)} is not a file or a folder`)
    const name = path.slice(path.indexOf('/') + 1)
    if (files.has(name)) throw new ArchiveError(`${JSON.stringify(name)} occurs twice`)
    files.set(name, content)
  }
  return files
}

function unzipped(packed: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new ArchiveError(`the archive has more than ${maxBytes} bytes when it is unpacked`)
    throw new ArchiveError('the archive is not valid gzip data')
  }
}

/** Returns the path if it stays in the folder of the archive. */
function safePath(path: string): string {
  const parts = path.replace(/\/$/, '').split('/')
  const isSafe =
    path !== '' &&
    !/[\\\p{Cc}]/u.test(path) &&
    !/^[a-z]:/i.test(path) &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..')
  if (!isSafe) throw new ArchiveError(`the path ${JSON.stringify(path)} leaves the folder of the archive`)
  return parts.join('/')
}

function pathIn(header: Uint8Array): string {
  const name = textIn(header, 0, 100)
  const isUstar = textIn(header, 257, 6).startsWith('ustar')
  const prefix = isUstar ? textIn(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function textIn(bytes: Uint8Array, from: number, length: number): string {
  const part = bytes.subarray(from, from + length)
  const end = part.indexOf(0)
  return new TextDecoder().decode(end === -1 ? part : part.subarray(0, end))
}

/** Reads an octal number. Base-256 numbers, for files above 8 GB, are rejected. */
function numberIn(header: Uint8Array, from: number, length: number): number {
  const digits = textIn(header, from, length).trim()
  if (!/^[0-7]*$/.test(digits)) throw new ArchiveError('a header of the archive has an invalid number')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function checkSum(header: Uint8Array): void {
  // The sum is computed with spaces in place of its own field.
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0)
  if (sum !== numberIn(header, 148, 8)) throw new ArchiveError('a header of the archive is damaged')
}

/** Reads the extended attributes `path` and `size`: `<length> <name>=<value>\n`. */
function paxOf(content: Uint8Array): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {}
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at)
    const digits = textIn(content, at, Math.max(0, Math.min(space - at, 12)))
    const length = Number(digits)
    if (!/^[1-9]\d*$/.test(digits) || at + length > content.length || length <= space - at)
      throw new ArchiveError('extended attributes of the archive are damaged')
    const record = new TextDecoder().decode(content.subarray(space + 1, at + length)).replace(/\n$/, '')
    const equals = record.indexOf('=')
    const [name, value] = [record.slice(0, equals), record.slice(equals + 1)]
    if (name === 'path') found.path = value
    if (name === 'linkpath') throw new ArchiveError('the archive has a link')
    if (name === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw new ArchiveError('extended attributes of the archive are damaged')
      found.size = Number(value)
    }
    at += length
  }
  return found
}
