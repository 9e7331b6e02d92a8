import { threadId } from 'node:worker_threads'
import { multiLine } from '../../../../src/report/safe-text.js'
import { type CampaignInternals, campaignInternals, type IndexResult, type IndexTask } from '../campaign/index-space.js'
import { slotOf, type WorkerJob } from './job.js'

// Runs in a thread of its own: the code of a campaign may never end, and the program has to hear Ctrl-C meanwhile.

/** What came of a job. */
export type JobResult = { readonly answer: IndexResult } | { readonly broken: string }

let silenced = false

/** Called by the pool. */
export async function perform({ file, given, task, slot }: WorkerJob): Promise<JobResult> {
  if (!silenced) leaveTheReportAlone()
  silenced = true
  Atomics.store(slot, slotOf.thread, threadId)
  try {
    const campaign = await campaignIn(file)
    return { answer: await campaign.perform(given, taskOf(task, slot)) }
  } catch (error) {
    return { broken: told(error) }
  }
}

/** What a campaign prints must not end up in the report, nor may it end the program. */
function leaveTheReportAlone(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const { exit } = process
  process.exit = (code) => {
    throw new Error(`The code under test called process.exit(${code ?? ''}).`)
  }
  // With it Node ends a thread after an error that nobody has caught.
  process.on('uncaughtExceptionMonitor', () => {
    if (process.listenerCount('uncaughtException') === 0) process.exit = exit
  })
}

let loaded: { readonly file: string; readonly campaign: Promise<CampaignInternals> } | undefined

function campaignIn(file: string): Promise<CampaignInternals> {
  if (loaded?.file !== file) loaded = { file, campaign: load(file) }
  return loaded.campaign
}

async function load(file: string): Promise<CampaignInternals> {
  const { default: campaign } = (await import(file)) as { default?: unknown }
  // A file that is CommonJS has its exports in the default one.
  const candidates = [campaign, (campaign as { default?: unknown } | undefined)?.default]
  const found = candidates.map(campaignInternals.find).find((one) => one !== undefined)
  if (found !== undefined) return found
  throw new TypeError(
    `Its default export is ${campaign === undefined ? 'missing' : 'no campaign'}: write export default defineCampaign(() => assertResilient({ … })), with defineCampaign from stuntdouble/checks.`,
  )
}

function taskOf(task: WorkerJob['task'], slot: Int32Array): IndexTask {
  if (task.do !== 'attempt') return task
  return {
    ...task,
    ended(failed) {
      Atomics.add(slot, slotOf.runs, 1)
      if (failed) Atomics.add(slot, slotOf.failed, 1)
    },
  }
}

function told(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const [why] = String(message).split('\n')
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `This Node (${process.version}) does not read TypeScript by itself, as Node 22.18 and later does. Update Node, or give it a loader: NODE_OPTIONS="--import tsx". ${why}`
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `Node reads TypeScript whose types can be left out, and this has more: write it without, or give Node a loader: NODE_OPTIONS="--import tsx". ${why}`
  if (/^Cannot use import statement outside a module|^Unexpected token 'export'/.test(String(message)))
    return 'It is an ES module, and its package.json says "type": "commonjs" or nothing: call it campaign.mts, or set "type": "module".'
  if (!(error instanceof Error)) return multiLine(`It throws ${String(error)}.`)
  if (error instanceof TypeError && ours.test(error.message)) return multiLine(error.message)
  // The lines of the code under test, and not those that lead to it.
  const lines = (error.stack ?? error.message)
    .split('\n')
    .filter((line) => !/^ +at .*(?:node:internal|tinypool)/.test(line))
  return multiLine(lines.slice(0, maxLines).join('\n'))
}

export const maxLines = 12

/** Sentences that tell what to do: where they were thrown helps nobody. */
const ours = /^(?:assertResilient|assertCrashSafe|interleavings|defineCampaign)\(\)|^Its default export/
