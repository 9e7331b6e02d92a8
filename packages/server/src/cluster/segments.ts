import { promisify } from 'node:util'
import { deflateRaw, inflateRawSync } from 'node:zlib'

// Encodes snapshots. A snapshot consists of segments, and each segment contains the records since the previous segment.
// Records are compressed together, because they are similar.

const deflated = promisify(deflateRaw)

/** Compresses records in order, without blocking the node. */
export async function segmentOf(records: readonly Uint8Array[]): Promise<Uint8Array> {
  return joined([await deflated(joined(records))])
}

/** Returns the records of consecutive segments. @throws Error for damaged segments */
export function recordsOf(segments: Uint8Array): readonly Uint8Array[] {
  try {
    return parted(segments).flatMap((segment) => parted(inflateRawSync(segment)))
  } catch (cause) {
    throw new Error('The snapshot of the tenant is damaged and cannot be unpacked.', { cause })
  }
}

/** Joins parts. The length of each part is in front of it. */
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
    if (end > bytes.length) throw new RangeError(`it has only ${bytes.length} of at least ${end} bytes`)
    parts.push(bytes.subarray(at + 4, end))
    at = end
  }
  return parts
}
