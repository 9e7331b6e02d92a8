import { type Program, UsageError } from '@stuntdouble/command-line'
import { plainJson } from '../../../../src/report/safe-text.js'
import { diffTraces, formatTraceDiff } from '../../../../src/report/trace-difference.js'
import { readTrace } from '../trace-file.js'

export const program: Program = {
  args: {
    json: { type: 'boolean', description: 'print the differences as JSON' },
  },
  operands: { hint: 'A.json B.json', least: 2, most: 2 },
  examples: ['stuntdouble diff before.json after.json', 'stuntdouble diff expected.json - < actual.json'],
  run: async (given) => {
    const [one, other] = given._ as [string, string]
    if (one === '-' && other === '-')
      throw new UsageError('diff can read only one of the two traces from standard input. Pass a file for the other.')
    const [before, after] = [await readTrace(one), await readTrace(other)]
    const difference = diffTraces(before, after)
    if (given.json === true) {
      const changes = difference.changes.map((change) => ({
        kind: change.kind,
        ...('before' in change && { before: change.before.seq }),
        ...('after' in change && { after: change.after.seq }),
        type: 'after' in change ? change.after.type : change.before.type,
        ...('fields' in change && { fields: change.fields }),
      }))
      console.log(plainJson({ equal: difference.equal, context: difference.context, changes }))
    } else console.log(formatTraceDiff(difference, before, after))
    return difference.equal ? 0 : 1
  },
}
