import { UsageError } from '@stuntdouble/command-line'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import { loadTrace } from '../../../src/report/load-trace.js'
import { plainText } from '../../../src/report/safe-text.js'
import type { Trace } from '../../../src/report/trace.js'
import type { Traffic } from '../../../src/report/traffic-view.js'
import { readText } from './text-file.js'

/** Maximum bytes of a trace. A trace of this size has several hundred thousand entries. */
export const maxTrace = 268_435_456

/** Reads a trace from a file, or from standard input for `-`. @throws UsageError when the content is not a trace */
export async function readTrace(file: string): Promise<Traffic> {
  return (await readRecording(file)).view
}

/**
 * Reads a trace, and returns it together with the complete content of the file. The complete content includes the store
 * changes.
 * @throws UsageError when the content is not a trace
 */
export async function readRecording(file: string): Promise<{ readonly view: Traffic; readonly given: Trace }> {
  const text = await readText(file, maxTrace)
  try {
    const given = parsedJson(text) as Trace
    return { view: loadTrace(given ?? text), given }
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`${file === '-' ? 'standard input' : plainText(file)}: ${plainText(error.message)}`)
    throw error
  }
}
