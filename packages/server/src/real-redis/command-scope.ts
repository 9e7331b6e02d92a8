import type { Bytes } from '../../../../src/kernel/bytes.js'
import { replyError } from '../../../../src/store/command/errors.js'

// Classifies commands by their scope: those that need the real Redis to belong to this sandbox, and those that leave
// database 0.

type Row = readonly Bytes[]

export function flushes([name]: Row): boolean {
  return /^FLUSH(?:ALL|DB)$/i.test(name!)
}

/** Returns whether a command could delete data of others, in every database and on every master. */
export function destroys(row: Row): boolean {
  return flushes(row) || /^(?:FUNCTION (?:FLUSH|DELETE|RESTORE|LOAD)|SCRIPT FLUSH)$/i.test(`${row[0]} ${row[1]}`)
}

/** Returns whether a command runs code, which may run any other command. */
export function runsScript([name]: Row): boolean {
  return /^(?:EVAL|EVALSHA|FCALL)(?:_RO)?$/i.test(name!)
}

export function counts([name]: Row): boolean {
  return /^DBSIZE$/i.test(name!)
}

/** @throws ReplyError for a command that writes to another database than 0 */
export function keepInside(row: Row): void {
  if (databasesOf(row).some((word) => /^[+-]?\d+$/.test(word) && word !== '0')) throw replyError('dbIndex')
}

/** Parses options as Redis does: it stops at an unknown option and ignores the rest. */
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

/**
 * Rights of scripts: all commands except those that flush or leave the database. COPY is not allowed in scripts,
 * because its target database cannot be checked there.
 */
export const rightsOfScripts: readonly string[] = [
  'allkeys',
  'allchannels',
  '+@all',
  '-@admin',
  ...['flushall', 'flushdb', 'swapdb', 'select', 'move', 'copy', 'migrate'].map((name) => `-${name}`),
  '+select|0',
]
