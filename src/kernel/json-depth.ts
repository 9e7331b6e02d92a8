/** Whether a JSON text nests deeper than this many levels. For other text the answer is arbitrary: its parser refuses it. */
export function isDeeper(json: string, levels: number): boolean {
  // Every level takes two brackets.
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

/** Whether a JSON text has more values than one request may: read, each takes some ten times its two bytes. For other text the answer is arbitrary: its parser refuses it. */
export function hasMoreValues(json: string, most: number): boolean {
  // Every value takes two chars.
  if (json.length <= 2 * most) return false
  let values = 1
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) at = endOfText(json, at)
    else if ((char === comma || char === openList || char === openObject) && ++values > most) return true
  }
  return false
}

/** The position of the quote that ends a string. */
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
