const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Milliseconds of `90s` or `1d10h30m`, the service's grammar of durations; `undefined` when the text is none. [queue.md 2.2] */
export function parseServiceDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?[smhd])+$/.test(text)) return undefined
  let seconds = 0
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)([smhd])/g))
    seconds += Number(count) * unitSeconds[unit!]!
  // Longer ones would leave the time that a Date can tell.
  return seconds <= 1e12 ? Math.round(seconds * 1000) : undefined
}
