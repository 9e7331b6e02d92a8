import { type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { recordedChanges } from '../../../../src/report/html.js'
import { plainText } from '../../../../src/report/safe-text.js'
import { port } from '../config.js'
import { serveRecording } from '../inspector/served-recording.js'
import { ListenFailure } from '../listen-failure.js'
import { readRecording } from '../trace-file.js'
import { endWithNpm } from './parent.js'

/** Maximum number of entries in the timeline for browsers without JavaScript. */
const maxTold = 2_000

export const program: Program = {
  args: {
    port: { type: 'string', valueHint: 'N', default: '0', description: 'port; 0 selects a free one' },
    title: {
      type: 'string',
      valueHint: 'TEXT',
      description: 'title of the page (default: name of the file)',
    },
  },
  operands: { hint: '[TRACE.json]', least: 0, most: 1 },
  examples: [
    'stuntdouble open trace.json',
    'curl -s http://127.0.0.1:4010/_control/main/traffic/trace | stuntdouble open',
  ],
  run: async (given) => {
    const [file = '-'] = given._
    if (file === '-' && process.stdin.isTTY) {
      throw new UsageError('open needs a trace. Pass a file, or pipe a trace into it.')
    }
    const taken = port(textOf(given, 'port', 'N')!)
    const title = textOf(given, 'title', 'TEXT') ?? (file === '-' ? 'Traffic' : file)
    const { view, given: recorded } = await readRecording(file)
    const { inspectorPage } = await import('@stuntdouble/inspector/page')
    const story = view.timeline({ limit: maxTold })
    const page = inspectorPage({
      trace: view.toTrace(),
      changes: recordedChanges(recorded),
      title: plainText(title),
      story,
    })
    const served = await serveRecording(page, taken).catch((error) => {
      throw error instanceof ListenFailure ? new UsageError(error.message) : error
    })
    // Ctrl-C may arrive twice: from the terminal, and forwarded by npm.
    const end = (): void => void served.close().then(() => process.exit(0))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    endWithNpm(end)
    console.log(`inspector  ${served.link}\n\nready`)
    return undefined
  },
}
