// Compiled, never run: which texts are spans of time.
import type { Duration } from 'stuntdouble'

declare const count: number

export const written: readonly Duration[] = [
  0,
  ...(['500ms', '90s', '5m', '1.5h', '1d', '2w', '1mo', '1y'] as const),
  ...(['1d10h30m', '1h1m1s1ms'] as const),
  `${count}m`,
  `${count}h${count}m`,
]

export const mistaken: readonly Duration[] = [
  // @ts-expect-error: units are one letter, or two
  '5 minutes',
  // @ts-expect-error
  '5minutes',
  // @ts-expect-error
  '10 sec',
  // @ts-expect-error
  '1 hour',
  // @ts-expect-error
  '2 days',
  // @ts-expect-error: a span needs a unit
  '5',
  // @ts-expect-error
  'soon',
  // @ts-expect-error
  '',
]
