import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import type { RemoteSandbox } from '../../../../src/client/connect.js'
import { type Entry, type EntryType, entryTypes } from '../../../../src/kernel/traffic-log.js'
import { controlTokenVariable } from '../config.js'
import { connected, refuseUnknownTenant } from './env-program.js'
import { LiveTimeline, type Paint } from './live-timeline.js'

/** What happens at once is told together, in order and with its answers; host milliseconds. */
const together = 50

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', default: 'http://127.0.0.1:4010', description: 'the running server' },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'whose story' },
    type: { type: 'string', valueHint: 'TYPE,TYPE', description: `only these: ${Object.keys(entryTypes).join(', ')}` },
    lines: { type: 'string', valueHint: 'N|all', default: '20', description: 'earlier entries to show' },
    once: { type: 'boolean', description: 'show what is there and exit' },
    'control-token': {
      type: 'string',
      valueHint: 'T',
      description: `token that the server asks other machines for, also as ${controlTokenVariable}`,
    },
  },
  examples: [
    'stuntdouble tail',
    'stuntdouble tail --tenant w1 --type attempt,dead-letter,fault',
    'stuntdouble tail --once --lines all > story.txt',
  ],
  run: async (given) => {
    const types = typesOf(textOf(given, 'type', 'TYPE,TYPE'))
    const lines = countOf(textOf(given, 'lines', 'N|all')!)
    await refuseUnknownTenant(given)
    const sandbox = await connected(given)
    endWithPipe()
    const last = await sandbox.traffic.mark()
    const after = Math.max(0, last - lines)
    if (given.once === true) return await shown(sandbox, types, after)
    return await followed(sandbox, types, after, given)
  },
}

async function shown(sandbox: RemoteSandbox, types: readonly EntryType[] | undefined, after: number): Promise<number> {
  const view = await sandbox.traffic.since(after).snapshot()
  const lines = new LiveTimeline(paint()).lines(
    types === undefined ? view.entries : view.filter(({ type }) => types.includes(type)),
  )
  if (lines.length > 0) console.log(lines.join('\n'))
  return 0
}

/** Until the reader has enough, which is good, or the server ends, which is told. */
async function followed(
  sandbox: RemoteSandbox,
  types: readonly EntryType[] | undefined,
  after: number,
  given: ParsedArguments,
): Promise<number> {
  const enough = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => enough.abort())
  const timeline = new LiveTimeline(paint())
  const fresh = new Map<number, Entry>()
  let telling: Promise<void> | undefined
  const tell = (): void => {
    const lines = timeline.lines(fresh.values())
    fresh.clear()
    if (lines.length > 0) console.log(lines.join('\n'))
  }
  const onReset = (by: 'reset' | 'load'): void => {
    tell()
    console.log(timeline.renew(by))
  }
  try {
    const options = { after, signal: enough.signal, onReset, ...(types !== undefined && { types }) }
    for await (const entry of sandbox.traffic.follow(options)) {
      fresh.set(entry.seq, entry)
      telling ??= sleep(together).then(() => {
        telling = undefined
        tell()
      })
    }
  } catch (error) {
    if (enough.signal.aborted) return 0
    if (!isBroken(error)) throw error
  }
  await telling
  if (enough.signal.aborted) return 0
  console.error(`stuntdouble: The server at ${textOf(given, 'url', 'URL')} has ended, or the tenant was dropped.`)
  return 1
}

/** How `fetch` words a connection that went away. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && /terminated|fetch failed|network/i.test(error.message)
}

/** `stuntdouble tail | head` has enough after some lines. */
function endWithPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

const styles = { quiet: 'dim', bad: 'red', odd: 'yellow' } as const

function paint(): Paint {
  const plain = !process.stdout.isTTY || (process.env.NO_COLOR ?? '') !== ''
  return (style, text) => (plain ? text : styleText(styles[style], text, { validateStream: false }))
}

function typesOf(given: string | undefined): readonly EntryType[] | undefined {
  if (given === undefined) return undefined
  const names = given.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !Object.hasOwn(entryTypes, name))
  if (unknown === undefined) return names as EntryType[]
  throw new UsageError(
    `--type knows no entries of type ${JSON.stringify(unknown)}. Use ${Object.keys(entryTypes).join(', ')}.`,
  )
}

function countOf(given: string): number {
  if (given === 'all') return Number.MAX_SAFE_INTEGER
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new UsageError(`--lines is a whole number or all, not ${JSON.stringify(given)}.`)
}
