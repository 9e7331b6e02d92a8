import type { Bytes } from '../../../../src/kernel/bytes.js'
import { replyError } from '../../../../src/store/command/errors.js'

// Classifies commands. Some may run only while the real Redis belongs to this sandbox. Others are rejected because they
// use a database other than 0.

type Row = readonly Bytes[]

export function flushes([name]: Row): boolean {
  return /^FLUSH(?:ALL|DB)$/i.test(name!)
}

/**
 * Returns whether a command affects the whole server. Such a command could delete data of another owner, and it must
 * run on every master.
 */
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

/** Checks that a command writes only to database 0. @throws ReplyError otherwise */
export function keepInside(row: Row): void {
  if (databasesOf(row).some((word) => /^[+-]?\d+$/.test(word) && word !== '0')) throw replyError('dbIndex')
}

/** Returns the databases in the arguments of COPY. Parsing stops at an unknown option, as in Redis. */
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
 * ACL rules of the user that runs scripts: all commands are allowed, except commands that flush or that use a database
 * other than 0. COPY is not allowed in scripts, because its target database cannot be checked there.
 */
export const rightsOfScripts: readonly string[] = [
  'allkeys',
  'allchannels',
  '+@all',
  '-@admin',
  ...['flushall', 'flushdb', 'swapdb', 'select', 'move', 'copy', 'migrate'].map((name) => `-${name}`),
  '+select|0',
]
