import { UsageError } from '@stuntdouble/command-line'
import { parsedJson } from '../../../src/kernel/parsed-json.js'
import { loadTrace } from '../../../src/report/load-trace.js'
import { plainText } from '../../../src/report/safe-text.js'
import type { Trace } from '../../../src/report/trace.js'
import type { Traffic } from '../../../src/report/traffic-view.js'
import { readText } from './text-file.js'

/** Bytes of a trace: some hundred thousand entries. */
export const maxTrace = 268_435_456

/** The trace of a file, `-` for the standard input. @throws UsageError */
export async function readTrace(file: string): Promise<Traffic> {
  return (await readRecording(file)).view
}

/** The same with all that the file holds: what the store went through, too. @throws UsageError */
export async function readRecording(file: string): Promise<{ readonly view: Traffic; readonly given: Trace }> {
  const text = await readText(file, maxTrace)
  try {
    const given = parsedJson(text) as Trace
    return { view: loadTrace(given ?? text), given }
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`${file === '-' ? 'the standard input' : plainText(file)}: ${plainText(error.message)}`)
    throw error
  }
}
