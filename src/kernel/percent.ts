/** A percent-decoded path segment; if the escapes are broken, the segment as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
