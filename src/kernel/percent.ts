/** A segment of a path without its percent-escapes; where they are broken, the segment as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
