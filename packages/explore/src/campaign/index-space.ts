import { type Internals, internals } from '../../../../src/kernel/internals.js'
import type { CoverageRow } from './coverage-rows.js'

/** All runs of a check, numbered from 0. A campaign divides them into blocks. */
export interface IndexSpace {
  /** Name of the function that performs the check. */
  readonly check: CheckName
  count(): Promise<number>
  /** Tries the runs of one block. A failing run does not stop the others. @param ended called after each run */
  attempt(from: number, to: number, ended: (failed: boolean) => void): Promise<Tried>
  /**
   * Repeats a run that failed, and shrinks its counterexample.
   * @returns the counterexample as text, or `undefined` if the run does not fail again
   */
  report(run: number): Promise<string | undefined>
}

export const checkNames = ['assertResilient', 'assertCrashSafe', 'exploreInterleavings', 'playScenario'] as const
export type CheckName = (typeof checkNames)[number]

/** Result of the runs of a block, which is a range of consecutive runs. */
export interface Tried {
  readonly failed: number
  /** Number of runs without a result. A run has no result if faults hit every attempt of a message. */
  readonly skipped: number
  /** The failing run with the lowest number. */
  readonly first?: FailedRun
  readonly coverage: readonly CoverageRow[]
  /** Notes about faults and orders that the check never tries, with any number of runs. They are equal in all blocks. */
  readonly notes?: readonly string[]
}

export interface FailedRun {
  readonly run: number
  /** Reason of the failure, in one line. */
  readonly why: string
}

/** Task of a campaign: counting its runs, trying a block, or reporting a failing run. */
export type IndexTask =
  | { readonly do: 'count' }
  | { readonly do: 'attempt'; readonly from: number; readonly to: number; readonly ended: (failed: boolean) => void }
  | { readonly do: 'tell'; readonly run: number }

/** Options of a campaign that apply to each of its runs. */
export interface CampaignOptions {
  readonly seed: number
  readonly runs: number
}

export type IndexResult =
  | { readonly check: CheckName; readonly size: number }
  | { readonly tried: Tried }
  | { readonly story: string | undefined }

/** A campaign: the default export of a campaign file, made by `defineCampaign()`. */
export interface Campaign {
  /** Always `campaign`. */
  readonly kind: 'campaign'
}

/** The internals of a campaign that a worker thread calls. */
export interface CampaignInternals {
  perform(given: CampaignOptions, task: IndexTask): Promise<IndexResult>
}

export const campaignInternals: Internals<Campaign, CampaignInternals> = internals('campaign')
