import { type Internals, internals } from '../../../../src/kernel/internals.js'
import type { CoverageRow } from './coverage-rows.js'

/** What a check can try, as runs with numbers from 0: a campaign cuts them into blocks. */
export interface IndexSpace {
  /** The name of the function that checks. */
  readonly check: CheckName
  /** How many runs there are. */
  count(): Promise<number>
  /** Tries the runs of one block, and goes on after one that fails. @param ended is called after each */
  attempt(from: number, to: number, ended: (failed: boolean) => void): Promise<Tried>
  /** Tries a run that failed once more, and shrinks it. @returns its story; `undefined` when it does not fail again */
  report(run: number): Promise<string | undefined>
}

export const checkNames = ['assertResilient', 'assertCrashSafe', 'exploreInterleavings', 'playScenario'] as const
export type CheckName = (typeof checkNames)[number]

/** What came of the runs of a block. */
export interface Tried {
  readonly failed: number
  /** Runs of which nothing is learned. */
  readonly skipped: number
  /** The failing run with the lowest number. */
  readonly first?: FailedRun
  readonly coverage: readonly CoverageRow[]
  /** Sentences about what no number of runs can show, the same for every block. */
  readonly notes?: readonly string[]
}

export interface FailedRun {
  readonly run: number
  /** In one line. */
  readonly why: string
}

/** What is asked of a campaign. */
export type IndexTask =
  | { readonly do: 'count' }
  | { readonly do: 'attempt'; readonly from: number; readonly to: number; readonly ended: (failed: boolean) => void }
  | { readonly do: 'tell'; readonly run: number }

/** What a campaign is played with. */
export interface CampaignOptions {
  readonly seed: number
  /** Runs at most. */
  readonly runs: number
}

export type IndexResult =
  | { readonly check: CheckName; readonly size: number }
  | { readonly tried: Tried }
  | { readonly story: string | undefined }

/** A campaign, as a file exports it. */
export interface Campaign {
  readonly kind: 'campaign'
}

/** What a thread does with a campaign. */
export interface CampaignInternals {
  perform(given: CampaignOptions, task: IndexTask): Promise<IndexResult>
}

export const campaignInternals: Internals<Campaign, CampaignInternals> = internals('campaign')
