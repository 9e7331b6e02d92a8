/** Parses JSON text, or returns `undefined` if it is invalid. */
export function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
