import { threadId } from 'node:worker_threads'
import { multiLine } from '../../../../src/report/safe-text.js'
import { type CampaignInternals, campaignInternals, type IndexResult, type IndexTask } from '../campaign/index-space.js'
import { slotOf, type WorkerJob } from './job.js'

// Code of a worker thread. A campaign can block its event loop forever, and the main thread must still react to Ctrl-C.

export type JobResult = { readonly answer: IndexResult } | { readonly broken: string }

let silenced = false

/** Performs a job. The pool calls it. */
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

/** Redirects the output of a campaign to standard error, and prevents the campaign from ending the process. */
function leaveTheReportAlone(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const { exit } = process
  process.exit = (code) => {
    throw new Error(`The code under test called process.exit(${code ?? ''}).`)
  }
  // Node.js must be able to end the thread after an uncaught error. So restore `process.exit` first.
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
  // The default export of an imported CommonJS file contains all its exports.
  const candidates = [campaign, (campaign as { default?: unknown } | undefined)?.default]
  const found = candidates.map(campaignInternals.find).find((one) => one !== undefined)
  if (found !== undefined) return found
  throw new TypeError(
    `Its default export is ${campaign === undefined ? 'missing' : 'not a campaign'}. Write export default defineCampaign(() => assertResilient({ … })), with defineCampaign from stuntdouble/checks.`,
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
    return `This Node.js (${process.version}) cannot load TypeScript; 22.18 and later can. Update Node.js, or use a loader: NODE_OPTIONS="--import tsx". ${why}`
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `Node.js only loads TypeScript whose types can be stripped, and this file has other syntax. Remove that syntax, or use a loader: NODE_OPTIONS="--import tsx". ${why}`
  if (/^Cannot use import statement outside a module|^Unexpected token 'export'/.test(String(message)))
    return 'It is an ES module, but its package.json has "type": "commonjs" or no type. Name it campaign.mts, or set "type": "module".'
  if (!(error instanceof Error)) return multiLine(`It throws ${String(error)}.`)
  if (error instanceof TypeError && ours.test(error.message)) return multiLine(error.message)
  // Keep the stack lines of the code under test, and drop those of Node.js and of the worker pool.
  const lines = (error.stack ?? error.message)
    .split('\n')
    .filter((line) => !/^ +at .*(?:node:internal|tinypool)/.test(line))
  return multiLine(lines.slice(0, maxLines).join('\n'))
}

export const maxLines = 12

/** Error messages of this package that say what to do. They are reported without a stack trace. */
const ours =
  /^(?:assert(?:Resilient|CrashSafe)|explore(?:Faults|Interleavings)|defineCampaign|playScenario)\(\)|^Its default export/
