/** Steps of a script that nothing has met. They may come from a server, or from a log: nothing is known of their fields. */
export interface Unplayed {
  readonly pattern: string
  readonly steps: readonly { readonly kind?: unknown; readonly status?: unknown }[]
}

/** Which steps of a script are left, and why that may be. */
export function unplayedText({ pattern, steps }: Unplayed, what: 'delivery' | 'call'): string {
  const told = steps.map(({ kind, status }) => (typeof status === 'number' ? `${kind} ${status}` : String(kind)))
  const why = {
    delivery: `Either too few deliveries were attempted (await clock.drain()?), or the steps aren't needed.`,
    call: `Either the app sent too few requests there (a cache?), or the steps aren't needed.`,
  }
  return `The script for ${pattern} has steps that no ${what} met: ${told.join(', ')}. ${why[what]}`
}
