/** Returns a text with a capital letter and exactly one full stop. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(first) ? first.replace(/\.+$/, '.') : `${first}.`
}

/** Returns a text without its full stop, for use inside a longer message. */
export function clause(text: string): string {
  return text.replace(/[.\s]+$/, '')
}
