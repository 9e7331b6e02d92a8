import { promisify } from 'node:util'
import { deflateRaw, inflateRawSync } from 'node:zlib'

// Records put together and compressed: they are much alike. A snapshot is segments, each of which stands for the records
// since the one before.

const deflated = promisify(deflateRaw)

/** Records in order, compressed beside what else the node does. */
export async function segmentOf(records: readonly Uint8Array[]): Promise<Uint8Array> {
  return joined([await deflated(joined(records))])
}

/** @returns the records of segments that stand one behind the other. @throws Error for anything else */
export function recordsOf(segments: Uint8Array): readonly Uint8Array[] {
  try {
    return parted(segments).flatMap((segment) => parted(inflateRawSync(segment)))
  } catch (cause) {
    throw new Error('The snapshot of the tenant is damaged: it cannot be unpacked.', { cause })
  }
}

/** Each with its length before it. */
function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all: Uint8Array[] = []
  for (const part of parts) {
    const length = new Uint8Array(4)
    new DataView(length.buffer).setUint32(0, part.length)
    all.push(length, part)
  }
  return Buffer.concat(all)
}

function parted(bytes: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + view.getUint32(at)
    if (end > bytes.length) throw new RangeError(`it ends in the middle, at ${bytes.length} of ${end} bytes`)
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  return parts
}
