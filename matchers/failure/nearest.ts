/** Failures that are remembered: a test reports the last ones, if any. */
const most = 50
const told: { readonly text: string; readonly nearest: number }[] = []

/** Remembers which entry a failure is about, for whoever shows the world beside it. */
export function rememberNearest(text: string, nearest: number | undefined): void {
  if (nearest === undefined) return
  told.push({ text, nearest })
  if (told.length > most) told.shift()
}

/** The `seq` of the entry that is nearest to what a matcher expected, by the message of its failure. */
export function nearestTo(message: string): number | undefined {
  return told.findLast(({ text }) => message.includes(text))?.nearest
}
