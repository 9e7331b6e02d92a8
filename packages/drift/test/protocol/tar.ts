import { gzipSync } from 'node:zlib'

/** One entry of an archive, written as given: also if a program would never write it. */
export interface Entry {
  readonly path: string
  readonly content?: string | Uint8Array
  /** Default: `0`, a file. */
  readonly type?: string
  readonly linkName?: string
  /** Size in the header. Default: that of the content. */
  readonly size?: number
  readonly checksum?: number
}

/** Returns a compressed archive. */
export function tgz(entries: readonly Entry[]): Uint8Array {
  return gzipSync(tar(entries))
}

export function tar(entries: readonly Entry[]): Uint8Array {
  return Buffer.concat([...entries.map(entryBytes), Buffer.alloc(1024)])
}

function entryBytes({ path, content = '', type = '0', linkName = '', size, checksum }: Entry): Buffer {
  const body = Buffer.from(content)
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write(`${(size ?? body.length).toString(8).padStart(11, '0')}\0`, 124)
  header.write('        ', 148)
  header.write(type, 156)
  header.write(linkName, 157, 100)
  header.write('ustar\0', 257)
  header.write('00', 263)
  const sum = checksum ?? header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
}

/** Extended attributes for the next entry: `<length> <name>=<value>\n`. */
export function pax(attributes: Readonly<Record<string, string>>): Entry {
  const content = Object.entries(attributes).map(([name, value]) => {
    const rest = ` ${name}=${value}\n`
    let length = Buffer.byteLength(rest) + 1
    while (String(length).length + Buffer.byteLength(rest) !== length) length++
    return `${length}${rest}`
  })
  return { path: 'PaxHeader', type: 'x', content: content.join('') }
}
