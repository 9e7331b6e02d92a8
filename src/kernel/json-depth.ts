/**
 * Returns whether a JSON text nests deeper than this many levels. For text that is not JSON, the result is arbitrary,
 * because its parser rejects it.
 */
export function isDeeper(json: string, levels: number): boolean {
  // Every level needs two brackets.
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
 * Returns whether a JSON text has more values than a request may have: parsed, each value takes about ten times its two
 * bytes. For text that is not JSON, the result is arbitrary, because its parser rejects it.
 */
export function hasMoreValues(json: string, most: number): boolean {
  // Every value needs two characters.
  if (json.length <= 2 * most) return false
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) at = endOfText(json, at)
    else if ((char === comma || char === openList || char === openObject) && ++values > most) return true
  }
  return false
}

/** Returns the position of the quote that ends a string. */
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
