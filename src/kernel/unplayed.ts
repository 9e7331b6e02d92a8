/** Steps of a script that nothing has met. They may come from a server, or from a log: nothing is known of their fields. */
export interface Unplayed {
  readonly pattern: string
  readonly steps: readonly { readonly kind?: unknown; readonly status?: unknown }[]
}

/** As a sentence. */
export function unplayedText({ pattern, steps }: Unplayed, what: 'delivery' | 'call'): string {
  const told = steps.map(({ kind, status }) => (typeof status === 'number' ? `${kind} ${status}` : String(kind)))
  return `The script for ${pattern} has steps that no ${what} met: ${told.join(', ')}.`
}
