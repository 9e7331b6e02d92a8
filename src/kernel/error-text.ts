/** Maximum length of an error text in a note or a response. This is a limit of this package, not of the service. */
const longest = 1000

/** Returns `TypeError: …` for any thrown value, even if it is not an error or cannot be read. */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    return text.length > longest ? `${text.slice(0, longest)}…` : text
  } catch {
    return 'a value that cannot be shown as text'
  }
}
