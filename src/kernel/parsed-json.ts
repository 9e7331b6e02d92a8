/** What a JSON text stands for; `undefined`, for which JSON has no word, when it is none. */
export function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
