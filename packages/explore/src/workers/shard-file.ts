import { stat } from 'node:fs/promises'
import { UsageError, writeWhole } from '@stuntdouble/command-line'
import type { ShardReport } from '../campaign/shard-report.js'

/** Minimum host time between two writes of a shard's file, in milliseconds. */
const writeEvery = 2000

export interface ShardFileWriter {
  now(): Promise<void>
  soon(): void
}

/** Writes the report file of a shard regularly. If the process dies, a valid file exists. */
export function keeper(out: string | undefined, report: () => ShardReport): ShardFileWriter {
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()
  const write = async (): Promise<void> => {
    if (out === undefined) return
    const text = `${JSON.stringify(report())}\n`
    try {
      const there = await stat(out).catch(() => undefined)
      // Never replace a device or a pipe by a file.
      if (there !== undefined && !there.isFile()) throw new Error('it exists and is not a file')
      await writeWhole(out, Buffer.from(text), 0o666)
    } catch (error) {
      throw new UsageError(`${out} cannot be written: ${(error as Error).message}.`)
    }
  }
  const now = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    writing = writing.then(write)
    return writing
  }
  return {
    now,
    soon() {
      timer ??= setTimeout(() => void now().catch(() => undefined), writeEvery)
    },
  }
}
