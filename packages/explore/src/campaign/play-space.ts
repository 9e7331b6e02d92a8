import type { FaultKind } from '../../../../src/faults/fault.js'
import { replayLines } from '../../../../src/report/failure-text.js'
import type { PlayResult } from '../../../../src/scenarios/play-scenario.js'
import { CoverageTracker } from '../delivery/coverage.js'
import { lineOf } from './failure-line.js'
import type { CampaignOptions, FailedRun, IndexSpace } from './index-space.js'

/**
 * Returns the plays of a scenario as numbered runs. Run 0 has the campaign's seed, run 1 that seed plus 1, and so on,
 * as in `stuntdouble play --runs`.
 */
export function playSpace({ seed, runs }: CampaignOptions, play: (seed: number) => unknown): IndexSpace {
  const played = async (run: number): Promise<PlayResult> => {
    const given = await play(seed + run)
    if (!isPlay(given))
      throw new TypeError(
        'defineCampaign(): the function returned no result of playScenario() this time, although it did before. Return the result of playScenario() from each call.',
      )
    if (given.seed !== seed + run)
      throw new TypeError(
        `defineCampaign(): the play must have the seed that the function received (got ${given.seed}, expected ${seed + run}). Otherwise all runs would be the same. Write defineCampaign(({ seed }) => playScenario(scenario, { seed })).`,
      )
    return given
  }
  return {
    check: 'playScenario',
    async count() {
      await played(0)
      return runs
    },
    async attempt(from, to, ended) {
      let coverage: CoverageTracker | undefined
      let failed = 0
      let first: FailedRun | undefined
      for (let run = from; run < to; run++) {
        const { holds, checks: findings, sandbox, scenario } = await played(run)
        coverage ??= new CoverageTracker(kindsIn(scenario), from)
        coverage.note(sandbox)
        if (!holds) {
          failed++
          const broken = findings.find((finding) => !finding.holds)!
          first ??= { run, why: lineOf(`${broken.path}: ${broken.expected}`) }
        }
        ended(!holds)
      }
      return { failed, skipped: 0, ...(first && { first }), coverage: coverage?.rows() ?? [] }
    },
    async report(run) {
      const told = await played(run)
      if (told.holds) return undefined
      return [
        `${told.scenario.name}, seed ${told.seed}`,
        '',
        told.timeline(),
        '',
        told.verdict(),
        '',
        ...replayLines(`playScenario(scenario, { …, seed: ${told.seed} })`),
      ].join('\n')
    },
  }
}

export function isPlay(given: unknown): given is PlayResult {
  return (
    typeof given === 'object' &&
    given !== null &&
    'holds' in given &&
    'checks' in given &&
    'timeline' in given &&
    'scenario' in given
  )
}

function kindsIn({ faults = [] }: PlayResult['scenario']): readonly FaultKind[] {
  return [...new Set(faults.map(({ fault }) => fault.kind))]
}
