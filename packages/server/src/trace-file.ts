import { UsageError } from '@stuntdouble/command-line'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import { loadTrace } from '../../../src/report/load-trace.js'
import { plainText } from '../../../src/report/safe-text.js'
import type { Trace } from '../../../src/report/trace.js'
import type { Traffic } from '../../../src/report/traffic-view.js'
import { readText } from './text-file.js'

/** Maximum bytes of a trace, which is enough for several hundred thousand entries. */
export const maxTrace = 268_435_456

/** Returns the trace of a file, or of standard input for `-`. @throws UsageError when it is not a trace */
export async function readTrace(file: string): Promise<Traffic> {
  return (await readRecording(file)).view
}

/**
 * Returns the trace and the complete content of its file, which includes store changes.
 * @throws UsageError when it is not a trace
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
