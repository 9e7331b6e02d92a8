import { type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { toHtml } from '../../../../src/report/html.js'
import { readRecording } from '../trace-file.js'

export const program: Program = {
  args: {
    title: {
      type: 'string',
      valueHint: 'TEXT',
      description: 'title of the page (default: name of the file)',
    },
  },
  operands: { hint: '[TRACE.json]', least: 0, most: 1 },
  examples: [
    'stuntdouble report trace.json > page.html',
    'curl -s http://127.0.0.1:4010/_control/main/traffic/trace | stuntdouble report > page.html',
  ],
  run: async (given) => {
    const [file = '-'] = given._
    if (file === '-' && process.stdin.isTTY) {
      throw new UsageError('report needs a trace. Pass a file, or pipe a trace into it.')
    }
    const title = textOf(given, 'title', 'TEXT') ?? (file === '-' ? undefined : file)
    process.stdout.write(toHtml((await readRecording(file)).given, { ...(title !== undefined && { title }) }))
    return 0
  },
}
