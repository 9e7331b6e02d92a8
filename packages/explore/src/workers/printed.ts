import { consoleText, plainText } from '../../../../src/report/safe-text.js'
import { campaignReport, type ShrunkFailure } from '../campaign/campaign-report.js'
import type { CoverageRow } from '../campaign/coverage-rows.js'
import type { Merged } from '../campaign/merge.js'

/**
 * Formats the report of a campaign for a terminal or a CI log. Report files of other jobs are not trusted. Each of
 * their texts is printed on one line, and never as a command for the CI.
 */
export function printedReport(merged: Merged, story?: ShrunkFailure): string {
  const { campaign, first, notRun, coverage, notes } = merged
  const plain: Merged = {
    ...merged,
    campaign: { ...campaign, file: plainText(campaign.file) },
    first: first && { ...first, why: plainText(first.why) },
    notRun: notRun.map((one) => ({ ...one, why: plainText(one.why) })),
    coverage: coverage.map(plainRow),
    notes: notes.map(plainText),
  }
  return consoleText(campaignReport(plain, story))
}

function plainRow(row: CoverageRow): CoverageRow {
  return {
    ...row,
    state: plainText(row.state),
    point: plainText(row.point),
    could: row.could.map(plainText),
    struck: Object.fromEntries(Object.entries(row.struck).map(([fault, run]) => [plainText(fault), run])),
  }
}
