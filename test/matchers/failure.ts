/**
 * Returns the text with which an assertion fails; throws when the assertion holds. Of the replay command, which differs
 * in each test, only the seed remains (see test/matchers/replay.test.ts).
 */
export function failureOf(assertion: () => void): string {
  return printedBy(assertion).replace(/^Replay: (?:STUNTDOUBLE_SEED=(\S+) )?npx vitest run .+$/m, (_, seed) =>
    seed === undefined ? 'Replay: without a seed' : `Replay: seed ${seed}`,
  )
}

/** Returns the printed text, without the colors that the runner has on some machines. */
export function printedBy(assertion: () => void): string {
  try {
    assertion()
  } catch (error) {
    const text = (error as Error).message.replace(/\u001b\[\d+m/g, '')
    // Every message of every failure that a test prints has one stop.
    const doubled = text.split('\n').find((line) => /^\S.*[^.][.!?]\.$/.test(line))
    if (doubled !== undefined) throw new Error(`This line ends in two stops: ${doubled}`)
    return text
  }
  throw new Error('The assertion held.')
}

/** Returns the part of a failure above the timeline. */
export function verdictOf(assertion: () => void): string {
  const text = failureOf(assertion)
  const end = text.search(/\n\n(?:\d{4}-\d\d-\d\d\n|\(no traffic\)|\(\d+ earlier|No command named)/)
  if (end === -1) throw new Error(`There is no timeline in:\n${text}`)
  return text.slice(0, end)
}
