/** Characters of an error that a note or an answer shows; a guard of ours. */
const longest = 1000

/** `TypeError: …` of whatever was thrown, even if it is not an error or cannot be read. */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return text.length > longest ? `${text.slice(0, longest)}…` : text
  } catch {
    return 'something that cannot be shown as text'
  }
}
