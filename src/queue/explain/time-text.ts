import { iso } from '../../kernel/instant.js'

/** Returns `2030-01-01 10:12:30`, with milliseconds if there are any. */
export function timeText(at: number | undefined): string {
  if (at === undefined) return 'an unknown time'
  return iso(at).replace('T', ' ').replace('.000Z', '').replace('Z', '')
}

/** Returns `1st`, `12th`, `23rd`. */
export function ordinal(place: number): string {
  const tens = place % 100
  const ending = tens >= 11 && tens <= 13 ? 'th' : (['th', 'st', 'nd', 'rd'][place % 10] ?? 'th')
  return `${place}${ending}`
}

const maxQuoted = 100

/** Returns a name in quotes, limited to one line. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > maxQuoted ? `${name.slice(0, maxQuoted)}…` : name)
}

const maxNamed = 3

/** Returns `a, b, c and 7 others`. */
export function listed(names: readonly string[], most: number = maxNamed): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} others`
}
