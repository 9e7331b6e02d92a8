/** Fault that a run could have injected in this state at this injection point, but that no run injected. */
interface Missed {
  readonly state: string
  readonly point: string
  readonly fault: string
}

const maxStatesShown = 6

/**
 * Formats the coverage: the total in one line, then the faults that were never injected.
 * @param places number of states in which a fault could have been injected
 */
export function figureText(reached: number, possible: number, places: number, never: readonly Missed[]): string {
  const percent = possible === 0 ? 100 : Math.floor((100 * reached) / possible)
  const head = `Reached ${reached} of ${possible} (${percent} %) possible faults, counted separately in each of ${places} states.`
  const byPlace = new Map<string, string[]>()
  for (const { state, point, fault } of never) {
    const place = `${point}, ${state}`
    byPlace.set(place, [...(byPlace.get(place) ?? []), fault])
  }
  const lines = [...byPlace]
    .slice(0, maxStatesShown)
    .map(([place, faults]) => `  never at ${place}: ${faults.join(', ')}`)
  const left = byPlace.size - lines.length
  return [head, ...lines, ...(left > 0 ? [`  … and in ${left} more states`] : [])].join('\n')
}
