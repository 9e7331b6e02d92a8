import { loadTrace } from '../report/load-trace.js'
import { plainText } from '../report/safe-text.js'
import type { TrafficView } from '../report/traffic-view.js'
import { UsageError } from './program.js'
import { readText } from './text-file.js'

/** Bytes of a trace: some hundred thousand entries. */
const largestTrace = 268_435_456

/** The trace of a file, `-` for the standard input. @throws UsageError */
export async function readTrace(file: string): Promise<TrafficView> {
  const text = await readText(file, largestTrace)
  try {
    return loadTrace(text)
  } catch (error) {
    if (error instanceof TypeError)
      throw new UsageError(`${file === '-' ? 'the standard input' : plainText(file)}: ${plainText(error.message)}`)
    throw error
  }
}
