/**
 * The text with which an assertion fails; fails itself when the assertion holds. The command that runs the test again
 * is another one in each test: of it only the seed is left (test/matchers/replay.test.ts has the rest).
 */
export function failureOf(assertion: () => void): string {
  return printedBy(assertion).replace(/^Replay: (?:STUNTDOUBLE_SEED=(\S+) )?npx vitest run .+$/m, (_, seed) =>
    seed === undefined ? 'Replay: without a seed' : `Replay: seed ${seed}`,
  )
}

/** The same as it is printed, without the colours that the runner has on some machines. */
export function printedBy(assertion: () => void): string {
  try {
    assertion()
  } catch (error) {
    return (error as Error).message.replace(/\u001b\[\d+m/g, '')
  }
  throw new Error('The assertion held.')
}

/** The part of a failure above the timeline. */
export function verdictOf(assertion: () => void): string {
  const text = failureOf(assertion)
  const end = text.search(/\n\n(?:\d{4}-\d\d-\d\d\n|\(no traffic\)|\(\d+ earlier|No command named)/)
  if (end === -1) throw new Error(`There is no timeline in:\n${text}`)
  return text.slice(0, end)
}
