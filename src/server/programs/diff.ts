import { loadTrace } from '../../report/load-trace.js'
import { plainJson, plainText } from '../../report/safe-text.js'
import { differenceText, traceDifference } from '../../report/trace-difference.js'
import type { TrafficView } from '../../report/traffic-view.js'
import { type Program, UsageError } from '../program.js'
import { readText } from '../text-file.js'

/** Bytes of a trace: some hundred thousand entries. */
const largestTrace = 268_435_456

export const program: Program = {
  args: {
    json: { type: 'boolean', description: 'print the difference as JSON' },
  },
  operands: { hint: 'A.json B.json', least: 2, most: 2 },
  examples: ['stuntdouble diff before.json after.json', 'stuntdouble diff expected.json - < actual.json'],
  run: async (given) => {
    const [one, other] = given._ as [string, string]
    if (one === '-' && other === '-') throw new UsageError('The standard input can be one of the two traces, not both.')
    const [before, after] = [await traceOf(one), await traceOf(other)]
    const difference = traceDifference(before, after)
    if (given.json === true) {
      const changes = difference.changes.map((change) => ({
        kind: change.kind,
        ...('before' in change && { before: change.before.seq }),
        ...('after' in change && { after: change.after.seq }),
        type: 'after' in change ? change.after.type : change.before.type,
        ...('fields' in change && { fields: change.fields }),
      }))
      console.log(plainJson({ equal: difference.equal, world: difference.world, changes }))
    } else console.log(differenceText(difference, before, after))
    return difference.equal ? 0 : 1
  },
}

async function traceOf(file: string): Promise<TrafficView> {
  const text = await readText(file, largestTrace)
  try {
    return loadTrace(text)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${plainText(file)}: ${plainText(error.message)}`)
    throw error
  }
}
