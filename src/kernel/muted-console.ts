// What the host's console is not told.

type LineFilter = (line: string) => boolean

/** What those at work at this time keep from it. One console for each process, whoever works at once. */
const kept = new Set<LineFilter>()
let restore = (): void => {}

/** While the work goes on, errors that it says are none do not reach the console. All others do. */
export async function withMutedConsole<T>(isNone: LineFilter, work: () => T | Promise<T>): Promise<T> {
  if (kept.size === 0) restore = hush()
  kept.add(isNone)
  try {
    return await work()
  } finally {
    kept.delete(isNone)
    if (kept.size === 0) restore()
  }
}

function hush(): () => void {
  const before = console.error
  const error = (...told: unknown[]): void => {
    const isKept = told.some((line) => typeof line === 'string' && [...kept].some((isNone) => isNone(line)))
    if (!isKept) before.apply(console, told)
  }
  console.error = error
  return () => {
    // Whoever replaced it meanwhile keeps what they have.
    if (console.error === error) console.error = before
  }
}
