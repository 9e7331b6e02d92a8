import type { Control } from '../source.js'
import type { PageView } from '../view.js'

/** Moves the clock, and shows the new time without waiting for the next facts. */
export async function moved(view: PageView, control: Control, order: string, body: object): Promise<void> {
  const { milliseconds } = (await control.ask('POST', `/clock/${order}`, body)) as { milliseconds?: number }
  const facts = view.facts.peek()
  if (view.source.control !== control || facts === undefined || milliseconds === undefined) return
  if (milliseconds > facts.now) view.facts.value = { ...facts, now: milliseconds }
}
