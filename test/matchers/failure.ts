/** The text with which an assertion fails; fails itself when the assertion holds. */
export function failureOf(assertion: () => void): string {
  try {
    assertion()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The assertion held.')
}

/** The part of a failure above the timeline. */
export function verdictOf(assertion: () => void): string {
  const text = failureOf(assertion)
  const end = text.search(/\n\n(?:\d{4}-\d\d-\d\d\n|\(no traffic\)|\(\d+ earlier|No command named)/)
  if (end === -1) throw new Error(`There is no timeline in:\n${text}`)
  return text.slice(0, end)
}
