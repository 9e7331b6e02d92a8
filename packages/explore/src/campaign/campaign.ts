import { type Campaign, campaignInternals } from './index-space.js'
import { isPlay, playSpace } from './play-space.js'
import { answerOf, PartOfCampaign } from './under-way.js'

/** Argument that the function of a campaign receives. */
export interface CampaignContext {
  /**
   * Seed for the play of a scenario. Each play gets another seed. A check ignores this seed and derives its own seeds.
   */
  readonly seed: number
}

/**
 * Defines a campaign for `stuntdouble campaign run`, which runs a check, or the play of a scenario, up to millions of
 * times. The function is called for each block of 1,000 runs, or for each play. The options of the check are used,
 * except `runs`, `seed`, `maxRuns`, `timeBudget` and the options for replay.
 * @throws TypeError if the argument is not a function
 * @example export default defineCampaign(() => assertIdempotent(ordersRoute))
 * @example
 * export default defineCampaign(({ seed }) => playScenario(scenarios.flappingDestination, { seed }))
 */
export function defineCampaign(explore: (run: CampaignContext) => unknown): Campaign {
  if (typeof explore !== 'function')
    throw new TypeError(
      'defineCampaign(): the argument must be a function that calls a check. Write defineCampaign(() => assertResilient({ publish, handler, holds })).',
    )
  // The first call of the function shows whether it returns a play. Later calls then pass the seed of their run, so
  // that no play runs with a wrong seed.
  let isOfPlays = false
  const campaign: Campaign = { kind: 'campaign' }
  campaignInternals.attach(campaign, {
    async perform(given, task) {
      const play = (seed: number): unknown => explore({ seed })
      if (isOfPlays) return answerOf(playSpace(given, play), task)
      const part = new PartOfCampaign(given, task)
      const done = await part.during(() => play(given.seed))
      if ('answer' in done) return done.answer
      if (!isPlay(done.result)) throw new TypeError(noCheck)
      isOfPlays = true
      return answerOf(playSpace(given, play), task)
    },
  })
  return campaign
}

const noCheck =
  'defineCampaign(): the function called none of assertResilient(), assertCrashSafe() and exploreInterleavings(), and did not return the play of a scenario. Write defineCampaign(() => assertResilient({ … })), or defineCampaign(({ seed }) => playScenario(scenario, { seed })).'
