// Compiled, never run: valid and invalid durations.
import type { Duration } from 'stuntdouble'
import { type RunHistory, replay } from 'stuntdouble/checks'
import { arb } from 'stuntdouble/fast-check'
import { startServer } from 'stuntdouble/server'

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
  // @ts-expect-error: a duration needs a unit
  '5',
  // @ts-expect-error
  'soon',
  // @ts-expect-error
  '',
]

/** Every option for a duration accepts a text. */
export async function everywhere(history: RunHistory, app: Parameters<typeof replay>[1]): Promise<void> {
  await replay(history, app, { timeout: '10s' })
  arb.clockMove({ maxLength: '2h' })
  const server = await startServer({ limits: { requestTimeout: '2m' }, cluster: { url: '', secret: '', lease: '2s' } })
  await server.close({ grace: '1m30s' })
  // @ts-expect-error: a duration needs a unit
  await server.close({ grace: '5' })
}
