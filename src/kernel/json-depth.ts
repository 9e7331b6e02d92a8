/**
 * Returns whether a JSON text nests deeper than `levels`. The result is arbitrary for text that is not JSON, because
 * the parser rejects that text later.
 */
export function isDeeper(json: string, levels: number): boolean {
  // A text that nests deeper than `levels` has more than two brackets per allowed level.
  if (json.length <= 2 * levels) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) at = endOfText(json, at)
    else if (char === openList || char === openObject) {
      if (++depth > levels) return true
    } else if (char === closeList || char === closeObject) depth--
  }
  return false
}

/**
 * Returns whether a JSON text has more than `most` values, because a parsed value can use ten times as much memory as
 * its text. The result is arbitrary for text that is not JSON, because the parser rejects that text later.
 */
export function hasMoreValues(json: string, most: number): boolean {
  // A value takes at least two characters, with its separator.
  if (json.length <= 2 * most) return false
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) at = endOfText(json, at)
    else if ((char === comma || char === openList || char === openObject) && ++values > most) return true
  }
  return false
}

/** Returns the position of the quote that ends a string. @param begin position of the opening quote */
function endOfText(json: string, begin: number): number {
  for (let at = begin + 1; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) return at
    if (char === backslash) at++
  }
  return json.length
}

const comma = 0x2c
const quote = 0x22
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
