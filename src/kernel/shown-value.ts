/** Returns a value as text for an error message: strings in quotes, numbers as digits, and all other values as JSON. */
export function shownValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // `JSON.stringify` throws for an object that contains itself.
    return String(value)
  }
}
