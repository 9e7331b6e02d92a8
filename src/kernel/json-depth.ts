/**
 * Returns whether a JSON text nests deeper than `levels`. For a text that is not JSON, the result means nothing,
 * because the parser rejects that text later.
 */
export function isDeeper(json: string, levels: number): boolean {
  // Each level needs two brackets, so a short text cannot nest deeper.
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
 * Returns whether a JSON text has more than `most` values. Such a text is dangerous, because parsed values can use ten
 * times as much memory as the text. For a text that is not JSON, the result means nothing, because the parser rejects
 * that text later.
 */
export function hasMoreValues(json: string, most: number): boolean {
  // A value and its separator take at least two characters, so a short text cannot have more values.
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
