import { randomBytes } from 'node:crypto'
import { stripVTControlCharacters } from 'node:util'
import { runInThisContext } from 'node:vm'
import { checkOptionNames } from '../../../../src/kernel/nearest-name.js'
import { failureOf } from '../../../../src/report/failure.js'
import { withoutTimeline } from '../../../../src/report/failure-text.js'
import { multiLine, plainText } from '../../../../src/report/safe-text.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import { startServer } from '../start-server.js'
import { hasTimeout, liftTimeout } from './time-out.js'
import { beginVisit, type FailedAssertion } from './visit.js'

/** Options of `inspect()`. */
export interface InspectOptions {
  /** What the page calls the world. Default `test`. */
  readonly title?: string
  /** The assertion that failed: the page opens on it. `nearest` is the `seq` of an entry. */
  readonly failure?: FailedAssertion
  /** Default 0: any free one. */
  readonly port?: number
  /** Receives the sentences with the link. Default: the standard error, which runners show at once. */
  readonly print?: (text: string) => void
}

/** Where the page looks first. */
const tenant = 'main'

/** How long a request of the page may go on after it let the test go on, in host milliseconds. */
const grace = 100

/**
 * Shows the world of a test in a browser, and waits: prints a link, and resolves once somebody presses "Go on" in the page or
 * Ctrl-C in the terminal (where tests run in processes of a runner, Ctrl-C ends the run). Nobody else can use the link, which is for this once, and nothing listens afterwards. The
 * time-out of the runner is lifted meanwhile, where the runner can. With `CI` set it says one sentence and does not wait.
 *
 * What is done in the page is done to the sandbox: time that is moved there has moved for the test.
 * @throws Error where it cannot listen
 * @example
 * await checkout()
 * await inspect(sandbox) // opens the inspector and waits until you continue
 */
export async function inspect(sandbox: Sandbox, options: InspectOptions = {}): Promise<void> {
  checkOptionNames('inspect()', options, { title: true, failure: true, port: true, print: true })
  if (options.failure !== undefined)
    checkOptionNames('failure of inspect()', options.failure, { message: true, nearest: true })
  const isLate = !liftTimeout() && hasTimeout()
  await waitFor(sandbox, options, isLate ? ongoing : '')
}

/** Where a runner cannot be told. */
const ongoing = 'The time-out of the test goes on meanwhile: give the test one that is long enough.\n'

/** Serves and waits, for a test that has no time-out. @param note what the person shall know beside the link */
export async function waitFor(sandbox: Sandbox, options: InspectOptions, note = ''): Promise<void> {
  const { title = 'test', failure, port = 0, print = toStandardError } = options
  if (isUnattended()) {
    print('stuntdouble: the inspector does not wait for anybody, because CI is set.\n')
    return
  }
  const controlToken = randomBytes(24).toString('base64url')
  // It takes the place of no service, whatever the app under test is told of its environment.
  const server = await startServer({ port, clock: 'manual', controlToken, allowProduction: true })
  server.adopt(tenant, sandbox)
  try {
    await new Promise<void>((goOn) => {
      const told = failure && { failure: { ...failure, message: shown(failure.message, sandbox) } }
      const endVisit = beginVisit(server.origin, { tenant, title, ...told, goOn: done })
      const signals = hostProcess()
      signals.on('SIGINT', done)
      function done(): void {
        signals.off('SIGINT', done)
        endVisit()
        goOn()
      }
      const how = endsAllWithSignal() ? 'Ctrl-C here ends the whole run' : 'Ctrl-C here goes on, too'
      print(
        `stuntdouble: ${plainText(title)} waits. Look into it at\n  ${server.inspectorUrl}\nand press "Go on" there; ${how}.\n${note}`,
      )
    })
  } finally {
    server.release(tenant)
    await server.close({ grace })
  }
}

/** A message as it may be shown: without colours, the secrets of the world, and the story, which the page tells. */
function shown(message: string, { traffic }: Sandbox): string {
  const told = stripVTControlCharacters(withoutTimeline(message, failureOf({ message })?.replay))
  return multiLine(traffic.redaction().text(told))
}

/** As the tools of the field read it: anything but an empty text, `0` and `false`. */
export function isUnattended(): boolean {
  return !['', '0', 'false'].includes((process.env.CI ?? '').toLowerCase())
}

/** Runners keep what a test logs until it has ended; this they hand on. */
function toStandardError(text: string): void {
  process.stderr.write(text)
}

/** In a process that a runner has started, whose own ends with it. */
function endsAllWithSignal(): boolean {
  return process.env.VITEST !== undefined || hostProcess().send !== undefined
}

/** Jest gives tests a copy of the process, which hears of no signal. */
function hostProcess(): NodeJS.Process {
  return runInThisContext('process') as NodeJS.Process
}
