import type { Bytes } from '../../../../src/kernel/bytes.js'
import { replyError } from '../../../../src/store/command/errors.js'

// How far commands reach: what needs the engine to be this sandbox's own at that very moment, and what leaves the database.

type Row = readonly Bytes[]

export function flushes([name]: Row): boolean {
  return /^FLUSH(?:ALL|DB)$/i.test(name!)
}

/** Could take away what somebody else stored, in every database and on every master. */
export function destroys(row: Row): boolean {
  return flushes(row) || /^(?:FUNCTION (?:FLUSH|DELETE|RESTORE|LOAD)|SCRIPT FLUSH)$/i.test(`${row[0]} ${row[1]}`)
}

/** Runs code that may run any command. */
export function runsScript([name]: Row): boolean {
  return /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/i.test(name!)
}

export function counts([name]: Row): boolean {
  return /^DBSIZE$/i.test(name!)
}

/** @throws ReplyError for what would write to another database than the first */
export function keepInside(row: Row): void {
  if (databasesOf(row).some((word) => /^[+-]?\d+$/.test(word) && word !== '0')) throw replyError('dbIndex')
}

/** Read as redis reads: at a word that is no option it stops, and what follows does nothing. */
function databasesOf(row: Row): Row {
  const name = row[0]!.toUpperCase()
  const found: Bytes[] = []
  for (let at = 3; name === 'COPY' && at < row.length; at++) {
    const option = row[at]!.toUpperCase()
    if (option === 'DB' && at + 1 < row.length) found.push(row[++at]!)
    else if (option !== 'REPLACE') break
  }
  return found
}

/** What scripts may run: everything but what flushes or leaves the database. In scripts COPY cannot be told apart. */
export const rightsOfScripts: readonly string[] = [
  'allkeys',
  'allchannels',
  '+@all',
  '-@admin',
  ...['flushall', 'flushdb', 'swapdb', 'select', 'move', 'copy', 'migrate'].map((name) => `-${name}`),
  '+select|0',
]
