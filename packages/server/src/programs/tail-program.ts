import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import type { RemoteSandbox } from '../../../../src/client/connect.js'
import { type Entry, type EntryType, entryTypes } from '../../../../src/kernel/traffic-log.js'
import { controlTokenOption } from '../config.js'
import { connected, refuseUnknownTenant } from './env-program.js'
import { LiveTimeline, type Paint } from './live-timeline.js'

/**
 * Time for which new entries are collected before they are printed, in milliseconds of host time. Most entries are then
 * printed in order and with their responses.
 */
const together = 50

export const program: Program = {
  args: {
    url: { type: 'string', valueHint: 'URL', default: 'http://127.0.0.1:4010', description: 'running server' },
    tenant: { type: 'string', valueHint: 'NAME', default: 'main', description: 'tenant whose traffic is printed' },
    type: { type: 'string', valueHint: 'TYPE,TYPE', description: 'only entries of these types' },
    lines: { type: 'string', valueHint: 'N|all', default: '20', description: 'number of earlier entries to print' },
    once: { type: 'boolean', description: 'print the existing entries and exit' },
    'control-token': controlTokenOption,
  },
  notes: () => ({ title: 'Entry types', lines: Object.keys(entryTypes) }),
  examples: [
    'stuntdouble tail',
    'stuntdouble tail --tenant w1 --type attempt,dead-letter,fault',
    'stuntdouble tail --once --lines all > timeline.txt',
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

/**
 * Prints entries until a signal arrives or the server ends. Returns the exit code: 0 after a signal, 1 when the server
 * has ended.
 */
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
  console.error(`stuntdouble: the server at ${textOf(given, 'url', 'URL')} has ended, or the tenant was dropped.`)
  return 1
}

/** Returns whether an error of `fetch` means that the connection was lost. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && /terminated|fetch failed|network/i.test(error.message)
}

/** Ends this process without an error when the reader of a pipe ends, for example with `stuntdouble tail | head`. */
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
    `--type: there is no entry type ${JSON.stringify(unknown)}. Use ${Object.keys(entryTypes).join(', ')}.`,
  )
}

function countOf(given: string): number {
  if (given === 'all') return Number.MAX_SAFE_INTEGER
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new UsageError(`--lines must be a whole number or all (got ${JSON.stringify(given)}).`)
}
