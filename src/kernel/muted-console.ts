// Hides expected errors of other libraries, which must not appear on the host's console.

type LineFilter = (line: string) => boolean

/** Filters of all work that is running. They are global, because a process has one console. */
const kept = new Set<LineFilter>()
let restore = (): void => {}

/** Runs work and hides the lines of `console.error` that the filter matches. All other lines are printed. */
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
    // If other code has replaced `console.error` in the meantime, its replacement stays.
    if (console.error === error) console.error = before
  }
}
