// Campaigns, for the commands `campaign run` and `campaign merge`.

export { printedReport } from '../workers/printed.js'
export { showProgress } from '../workers/progress.js'
export { keeper, type ShardFileWriter } from '../workers/shard-file.js'
export { longest, type ShardOptions, ShardRun } from '../workers/shard-run.js'
export { maxLines } from '../workers/worker.js'
export { JobFailed, Workers } from '../workers/workers.js'
export { blockLength, type Shard } from './blocks.js'
export { isWhole } from './campaign-report.js'
export { type Merged, merged, type NamedReport } from './merge.js'
export { maxBlocks, maxFaults, maxNotes, ShardError, type ShardReport, shardReportFrom } from './shard-report.js'
