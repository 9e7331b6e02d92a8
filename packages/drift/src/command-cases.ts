import { type Bytes, text, utf8 } from '../../../src/kernel/bytes.js'
import type { Case, ComparisonMode, DriftRequest, Need, Side } from './case.js'
import { observed } from './observe.js'
import { type Filling, wordsOf } from './written-commands.js'

// Parses cases that are written as lists of commands. Each line contains one command and is sent as one request.

interface Row {
  readonly line: string
  readonly loose: readonly ComparisonMode[]
  /** Name under which the reply to this command is kept. Later rows can contain the reply as `{name}`. */
  readonly keep: string | undefined
  /** Milliseconds to wait. A row with a wait sends no command. */
  readonly wait: number | undefined
}

/**
 * Parses cases from text. `# title` begins a case, `... 120` waits 120 ms, `~near TTL @k` compares loosely, `=dump DUMP
 * @k` keeps the reply as `{dump}`, and `! SEARCH.DROP @i` always runs at the end.
 */
export function cases(group: string, rows: string, needs: readonly Need[] = ['store']): Case[] {
  return rows
    .split(/^\s*# /m)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n').map((line) => line.trim())
      return tableCase(`${group}: ${title}`, lines.filter(Boolean), needs)
    })
}

function tableCase(name: string, lines: readonly string[], needs: readonly Need[]): Case {
  const last = lines.filter((line) => line.startsWith('! ')).map((line) => line.slice(2))
  const rows = lines.filter((line) => !line.startsWith('! ')).map(rowOf)
  return {
    name,
    needs,
    requests: rows.filter(({ wait }) => wait === undefined).length,
    async run(side, see) {
      for (const line of last) {
        const ask = commandAsk(wordsOf(line, fillingOf(side)))
        side.undo(line, (cleaner) => cleaner.ask(ask))
      }
      const kept = new Map<string, string>()
      for (const { line, loose, keep, wait } of rows) {
        if (wait !== undefined) {
          await side.wait(wait)
          continue
        }
        const argv = wordsOf(line, fillingOf(side, kept))
        const ask = commandAsk(argv)
        const answered = await side.ask(ask)
        const seen = observed(ask, answered, { argv, loose, asked: line })
        if (keep !== undefined) kept.set(keep, keptOf(seen.value))
        see(seen)
      }
    },
  }
}

function rowOf(line: string): Row {
  const wait = /^\.\.\. (\d+)$/.exec(line)
  const [, flags = '', keep, rest = line] = /^(?:~(\S+) )?(?:=(\S+) )?(.*)$/s.exec(line)!
  const loose = flags === '' ? [] : (flags.split(',') as ComparisonMode[])
  return { line: rest, loose, keep, wait: wait === null ? undefined : Number(wait[1]) }
}

export function fillingOf(side: Pick<Side, 'prefix' | 'now'>, kept: ReadonlyMap<string, string> = new Map()): Filling {
  return { prefix: side.prefix, now: side.now(), kept }
}

/**
 * Returns the request of a command, as clients send it. A command with bytes that are not UTF-8 cannot be sent as JSON,
 * so the contract sends it in the path.
 */
export function commandAsk(argv: readonly Bytes[]): DriftRequest {
  return {
    service: 'store',
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/json' },
    body: utf8(JSON.stringify(argv.map((each) => text(each)))),
  }
}

function keptOf(value: unknown): string {
  const { result } = (value ?? {}) as { result?: unknown }
  return typeof result === 'string' ? result : JSON.stringify(result ?? null)
}
