import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { milliseconds } from '../../../../src/kernel/duration.js'
import { iso } from '../../../../src/kernel/instant.js'
import { consoleText, plainJson, plainText } from '../../../../src/report/safe-text.js'
import { type PlayOptions, type PlayResult, playScenario } from '../../../../src/scenarios/play-scenario.js'
import type { Scenario } from '../../../../src/scenarios/written-scenario.js'
import { type LiveApplication, liveDestinations } from '../control/live-destinations.js'
import { readScenarioFile } from '../tenant-scenario/scenario-file.js'
import { scenarioFile, shippedScenarios } from '../tenant-scenario/shipped-scenario.js'
import { readText } from '../text-file.js'

export const maxRuns = 1_000_000

export const program: Program = {
  args: {
    to: {
      type: 'string',
      valueHint: 'URL',
      description: 'URL of the app; without a path, destinations keep their paths',
    },
    'deliver-to': {
      type: 'string',
      valueHint: 'HOSTS',
      description: 'other hosts that --to may name: any, or HOST,HOST',
    },
    timeout: {
      type: 'string',
      valueHint: 'DURATION',
      default: '30s',
      description: 'maximum host time of one response of the app',
    },
    runs: { type: 'string', valueHint: 'N', default: '1', description: 'number of runs, each with its own seed' },
    seed: { type: 'string', valueHint: 'S', description: "seed of the first run (default: the scenario's)" },
    json: { type: 'boolean', description: 'print the verdict and the entries as JSON' },
  },
  operands: { hint: 'FILE|NAME', least: 1, most: 1 },
  notes: () => ({ title: 'Shipped scenarios', lines: shippedScenarios() }),
  examples: [
    'stuntdouble play lost-acknowledgements',
    'stuntdouble play order-4711.yaml --to http://localhost:3000/api/orders',
    'stuntdouble play flaky.yaml --runs 500 --json | jq .failedSeeds',
  ],
  run: async (given) => {
    const file = scenarioFile(given._[0]!)
    const { scenario, lineOf } = readScenarioFile(await readText(file), file === '-' ? 'stdin' : file)
    const { silence, ...played } = playOptions(given, scenario)
    const options = { ...played, lineOf }
    const runs = wholeNumber('runs', textOf(given, 'runs', 'N')!)
    const outcome = await playRuns(scenario, options, runs)
    console.log(given.json === true ? plainJson(asJson(scenario, outcome)) : consoleText(asText(scenario, outcome)))
    if (silence?.() !== undefined) console.error(`stuntdouble: ${silence()}`)
    return outcome.failed.length === 0 ? 0 : 1
  },
}

/** Results of all runs. `shown` is the first run that failed. If no run failed, `shown` is the last run. */
interface Outcome {
  readonly runs: number
  readonly failed: readonly (string | number)[]
  readonly shown: PlayResult
}

function playOptions(given: ParsedArguments, scenario: Scenario): PlayOptions & Partial<LiveApplication> {
  const to = textOf(given, 'to', 'URL')
  const seed = textOf(given, 'seed', 'S')
  const live =
    to === undefined
      ? {}
      : liveDestinations(scenario, to, {
          deliver: textOf(given, 'deliver-to', 'HOSTS'),
          timeout: spanOf('timeout', textOf(given, 'timeout', 'DURATION')!),
        })
  return { ...live, ...(seed !== undefined && { seed: seedOf(seed) }) }
}

async function playRuns(scenario: Scenario, options: PlayOptions, runs: number): Promise<Outcome> {
  const first = options.seed ?? scenario.seed ?? 1
  const failed: (string | number)[] = []
  let shown: PlayResult | undefined
  for (let run = 0; run < runs; run++) {
    showProgress(run, runs, failed.length)
    const seed = typeof first === 'number' ? first + run : run === 0 ? first : `${first}/${run}`
    const play = await playScenario(scenario, { ...options, seed }).catch((error: Error) => {
      // Some mistakes in a scenario are found only when it is played, such as a dump that cannot be loaded.
      throw new UsageError(error.message)
    })
    if (!play.holds) {
      if (failed.length === 0) shown = play
      failed.push(seed)
    } else if (failed.length === 0) shown = play
  }
  showProgress(runs, runs, failed.length)
  return { runs, failed, shown: shown! }
}

function showProgress(done: number, runs: number, failed: number): void {
  if (runs === 1 || !process.stderr.isTTY) return
  if (done < runs && done % Math.max(1, Math.floor(runs / 100)) !== 0) return
  process.stderr.write(done === runs ? '\r\x1b[K' : `\rrun ${done + 1} of ${runs}, ${failed} failed`)
}

function asText(scenario: Scenario, { runs, failed, shown }: Outcome): string {
  const lines = [`${plainText(scenario.name)}   seed ${shown.seed}`, '', shown.timeline(), '', shown.verdict()]
  if (runs > 1) {
    const seeds = failed.slice(0, 20).map(String).join(', ')
    lines.push(
      failed.length === 0
        ? `The scenario holds in ${runs} runs.`
        : `The scenario does not hold in ${failed.length} of ${runs} runs: seeds ${seeds}${failed.length > 20 ? ', …' : ''}. The first one is shown.`,
    )
  }
  return lines.join('\n')
}

function asJson(scenario: Scenario, { runs, failed, shown }: Outcome): object {
  const { seed, checks: findings, endedAt, virtualMs, sandbox } = shown
  return {
    name: scenario.name,
    holds: failed.length === 0,
    runs,
    failedSeeds: failed,
    seed,
    startedAt: iso(endedAt - virtualMs),
    endedAt: iso(endedAt),
    findings,
    entries: sandbox.traffic.toTrace().entries,
  }
}

function wholeNumber(name: string, value: string): number {
  if (/^[1-9]\d*$/.test(value) && Number(value) <= maxRuns) return Number(value)
  throw new UsageError(`--${name} must be a number from 1 to ${maxRuns} (got ${JSON.stringify(value)}).`)
}

function seedOf(value: string): number | string {
  return /^\d{1,15}$/.test(value) ? Number(value) : value
}

function spanOf(name: string, value: string): number {
  try {
    return milliseconds(value as '1s')
  } catch {
    throw new UsageError(`--${name} must be a duration such as 30s or 2m (got ${JSON.stringify(value)}).`)
  }
}
