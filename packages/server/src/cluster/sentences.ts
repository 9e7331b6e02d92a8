/** With one full stop at its end, wherever the text comes from. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(first) ? first.replace(/\.+$/, '.') : `${first}.`
}

/** What is said in the middle of a sentence, or where somebody else puts the full stop. */
export function clause(text: string): string {
  return text.replace(/[.\s]+$/, '')
}
