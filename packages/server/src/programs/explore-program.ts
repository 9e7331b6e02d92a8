import { createHash } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { basename, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ownManifest, type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import {
  blockLength,
  isWhole,
  JobFailed,
  keeper,
  type Merged,
  merged,
  type NamedReport,
  printedReport,
  type Shard,
  ShardError,
  type ShardFileWriter,
  type ShardOptions,
  type ShardReport,
  ShardRun,
  shardReportFrom,
  showProgress,
  Workers,
} from '@stuntdouble/explore/campaign'
import { plainText } from '../../../../src/report/safe-text.js'
import { readText } from '../text-file.js'

/** Maximum size of a shard's file, in bytes. */
export const maxReport = 268_435_456
export const maxRuns = 1_000_000_000
export const maxShards = 100_000
export const maxJobs = 256
/** `stuntdouble campaign run`. */
export const runProgram: Program = {
  args: {
    runs: { type: 'string', valueHint: 'N', default: '1000', description: 'maximum number of runs, over all shards' },
    shard: { type: 'string', valueHint: 'I/N', description: 'run only shard I of N, such as 3/8' },
    jobs: { type: 'string', valueHint: 'N', description: 'number of workers (default: one per processor)' },
    seed: { type: 'string', valueHint: 'S', default: '1', description: 'seed of the campaign, a whole number' },
    out: {
      type: 'string',
      valueHint: 'FILE',
      description: 'result file (default for a shard: CAMPAIGN.I-of-N.json)',
    },
  },
  operands: { hint: 'FILE', least: 1, most: 1 },
  examples: [
    'stuntdouble campaign run campaign.ts --runs 5000',
    'stuntdouble campaign run campaign.ts --runs 1000000 --shard 3/8 --out shard-3.json',
  ],
  run: (given) => usable(() => explore(given._[0]!, given)),
}

/** `stuntdouble campaign merge`. */
export const mergeProgram: Program = {
  args: {
    file: {
      type: 'string',
      valueHint: 'FILE',
      description: 'campaign file, which is needed to shrink the first failure',
    },
  },
  operands: { hint: 'FILE…', least: 1, most: maxShards },
  examples: ['stuntdouble campaign merge shard-*.json --file campaign.ts'],
  run: (given) => usable(() => merge(given._, given)),
}

/** Converts the error of an invalid shard file to a usage error. */
async function usable(work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ShardError ? new UsageError(plainText(error.message)) : error
  }
}

async function explore(file: string, given: ParsedArguments): Promise<number> {
  const shard = shardOf(textOf(given, 'shard', 'I/N'))
  const orders: ShardOptions = {
    format: 'stuntdouble campaign',
    formatVersion: 1,
    version: ownManifest().version,
    campaign: await campaignAt(file),
    seed: seedOf(textOf(given, 'seed', 'S')!),
    runs: wholeNumber('runs', textOf(given, 'runs', 'N')!, maxRuns),
    blockLength,
    shard: shard ?? { nth: 1, of: 1 },
  }
  const out = textOf(given, 'out', 'FILE') ?? (shard && defaultOut(file, shard))
  if (out !== undefined && resolve(out) === resolve(file))
    throw new UsageError(`--out ${out} is the file of the campaign. Choose another file.`)
  const workers = new Workers(urlOf(file), { seed: orders.seed, runs: orders.runs }, jobsOf(given))
  const run = new ShardRun(orders, workers)
  const keep = keeper(out, () => run.report())
  const signal = onSignal((name) => {
    run.stop(`it was stopped by ${name}`)
    return workers.end()
  })
  try {
    await keep.now()
    const broken = await played(run, keep)
    if (signal.name !== undefined) run.stop(`it was stopped by ${signal.name}`)
    await keep.now()
    if (broken !== undefined && signal.name === undefined) throw new UsageError(`${file} cannot be run. ${broken}`)
    const done = merged([{ name: out ?? file, report: run.report() }], shard)
    // Shrink the first failure only if all runs of the campaign are known. With a single shard, another shard may have
    // an earlier failure.
    const isAll = shard === undefined && isWhole(done)
    console.log(printedReport(done, isAll ? await storyOf(done, workers) : undefined))
    if (out !== undefined) console.error(`Wrote ${out}.`)
    return exitCode(done)
  } finally {
    signal.forget()
    await workers.end()
  }
}

/** Runs the shard. Returns the reason if the campaign could not be run, otherwise `undefined`. */
async function played(run: ShardRun, keep: ShardFileWriter): Promise<string | undefined> {
  const hide = showProgress(() => run.progress)
  try {
    await run.count()
    await keep.now()
    await run.play(keep.soon)
    return undefined
  } catch (error) {
    if (error instanceof JobFailed) return error.message
    throw error
  } finally {
    hide()
  }
}

async function merge(names: readonly string[], given: ParsedArguments): Promise<number> {
  const files: NamedReport[] = []
  for (const name of new Set(names))
    files.push({ name, report: shardReportFrom(await readText(name, maxReport), name) })
  const all = merged(files)
  const campaign = await givenCampaign(given, all)
  console.log(printedReport(all, await retold(all, campaign)))
  return exitCode(all)
}

/**
 * Returns the path of the campaign that `--file` names, or `undefined` without the option. Paths in shard files are
 * never opened, because these files come from other machines.
 * @throws UsageError if the file differs from the campaign that the shards ran
 */
async function givenCampaign(given: ParsedArguments, { campaign }: Merged): Promise<string | undefined> {
  const file = textOf(given, 'file', 'FILE')
  if (file === undefined) return undefined
  const { digest } = await campaignAt(file)
  if (digest === campaign.digest) return file
  throw new UsageError(
    `--file ${file} differs from the campaign that the shards ran (${plainText(campaign.file)}). Pass that file unchanged, or omit --file.`,
  )
}

/**
 * Shrinks the first failure. Returns the description of the failure, or the reason why it was not shrunk. Returns
 * `undefined` without a failure.
 */
async function retold(all: Merged, campaign: string | undefined): Promise<{ told: string } | undefined> {
  if (all.first === undefined) return undefined
  if (campaign === undefined)
    return { told: 'The failure was not shrunk. Pass the campaign with --file FILE to shrink it.' }
  const workers = new Workers(urlOf(campaign), { seed: all.seed, runs: all.runs }, 1)
  const signal = onSignal(() => workers.end())
  try {
    return await storyOf(all, workers)
  } finally {
    signal.forget()
    await workers.end()
  }
}

async function storyOf({ first }: Merged, workers: Workers): Promise<{ told: string } | undefined> {
  if (first === undefined) return undefined
  try {
    const { story } = (await workers.perform({ do: 'tell', run: first.run })) as { story: string | undefined }
    return {
      told:
        story ??
        'The failure was not shrunk, because the run did not fail when it was repeated. The code under test is not repeatable: it uses time, randomness or state from outside its sandbox.',
    }
  } catch (error) {
    if (error instanceof JobFailed) return { told: `The failure was not shrunk: ${error.message}` }
    throw error
  }
}

function exitCode(done: Merged): number {
  if (done.failed > 0) return 1
  return isWhole(done) ? 0 : 4
}

interface SignalWatch {
  readonly name: string | undefined
  forget(): void
}

function onSignal(stop: (name: string) => Promise<void>): SignalWatch {
  const names = ['SIGINT', 'SIGTERM'] as const
  let heard: string | undefined
  const hear = (name: string): void => {
    heard ??= name
    void stop(name)
  }
  for (const name of names) process.on(name, hear)
  return {
    get name() {
      return heard
    },
    forget() {
      for (const name of names) process.off(name, hear)
    },
  }
}

async function campaignAt(file: string): Promise<ShardReport['campaign']> {
  const text = await readText(file)
  return { file: relative('.', file).replaceAll('\\', '/'), digest: createHash('sha256').update(text).digest('hex') }
}

function urlOf(file: string): string {
  return pathToFileURL(resolve(file)).href
}

function defaultOut(file: string, { nth, of }: Shard): string {
  return `${basename(file).replace(/\.[^.]*$/, '')}.${nth}-of-${of}.json`
}

function shardOf(given: string | undefined): Shard | undefined {
  if (given === undefined) return undefined
  const [, nth, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(given) ?? []
  const shard = { nth: Number(nth), of: Number(of) }
  if (shard.nth >= 1 && shard.nth <= shard.of && shard.of <= maxShards) return shard
  throw new UsageError(`--shard must be I/N, such as 1/8 to 8/8 for eight shards (got ${JSON.stringify(given)}).`)
}

function jobsOf(given: ParsedArguments): number {
  const jobs = textOf(given, 'jobs', 'N')
  return jobs === undefined ? availableParallelism() : wholeNumber('jobs', jobs, maxJobs)
}

function wholeNumber(name: string, value: string, most: number): number {
  if (/^[1-9]\d*$/.test(value) && Number(value) <= most) return Number(value)
  throw new UsageError(`--${name} must be a number from 1 to ${most} (got ${JSON.stringify(value)}).`)
}

function seedOf(value: string): number {
  if (/^-?\d{1,9}$/.test(value)) return Number(value)
  throw new UsageError(
    `--seed must be a whole number of up to nine digits, which may be negative (got ${JSON.stringify(value)}).`,
  )
}
