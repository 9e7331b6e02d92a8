/** Returns a value as it is shown in an error message: text in quotes, numbers as such, everything else as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // An object that contains itself has no JSON.
    return String(value)
  }
}
