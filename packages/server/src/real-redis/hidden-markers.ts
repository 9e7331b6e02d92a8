import type { Bytes } from '../../../../src/kernel/bytes.js'
import type { Reply } from '../../../../src/store/command/reply.js'

/** Removes the markers from a reply that contains keys of the whole database, such as the reply of KEYS. */
export function withoutMarkers(argv: readonly Bytes[], reply: Reply, markers: readonly Bytes[]): Reply {
  const hide = hides[argv[0]!.toUpperCase()]
  return hide === undefined ? reply : hide(reply, markers)
}

type Hide = (reply: Reply, markers: readonly Bytes[]) => Reply

const among: Hide = (reply, markers) =>
  Array.isArray(reply) ? reply.filter((key) => !markers.includes(key as Bytes)) : reply

const hides: Readonly<Record<string, Hide>> = {
  KEYS: among,
  SCAN: (reply, markers) => (Array.isArray(reply) ? [reply[0], among(reply[1], markers)] : reply),
  RANDOMKEY: (reply, markers) => (markers.includes(reply as Bytes) ? null : reply),
}
