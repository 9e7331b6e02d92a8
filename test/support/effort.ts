// How much the tests try. `EFFORT` is the only knob; `SEED` and `RUNS` replay one failure.

export type Effort = 'quick' | 'full' | 'nightly'

/** Exit code of a nightly program that cannot run on this machine and has printed why. */
export const notRun = 77

const efforts: readonly Effort[] = ['quick', 'full', 'nightly']

/** Set by `EFFORT`, and by the script of each tier: `npm test`, `npm run test:full`, `npm run test:nightly`. */
export const effort: Effort = efforts.find((name) => name === process.env.EFFORT) ?? 'quick'

if (process.env.EFFORT !== undefined && process.env.EFFORT !== effort)
  throw new TypeError(`EFFORT must be quick, full or nightly (got "${process.env.EFFORT}").`)

/** Number of random runs of a property: of this effort, or `RUNS` where it is set. */
export function runs(quick: number, full: number, nightly: number): number {
  return numberFrom('RUNS') ?? amount(quick, full, nightly)
}

/** A size, a length or a number of seconds of this effort. `RUNS` does not change it. */
export function amount(quick: number, full: number, nightly: number): number {
  return { quick, full, nightly }[effort]
}

/** Whether `RUNS` replays a failure. Then limits of frequencies are not checked, because they need many runs. */
export const isReplay: boolean = Boolean(process.env.RUNS)

/** Seed of a property or of a random program: `SEED` where it is set, to replay a failure with another seed. */
export function seedOr(usual: number): number {
  return numberFrom('SEED') ?? usual
}

function numberFrom(name: string): number | undefined {
  const text = process.env[name]
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || (name === 'RUNS' && value < 1))
    throw new TypeError(`${name} must be ${name === 'RUNS' ? 'a positive' : 'an'} integer (got "${text}").`)
  return value
}
