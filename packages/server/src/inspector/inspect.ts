import { randomBytes } from 'node:crypto'
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
  /** Name of the sandbox in the page. Default `test`. */
  readonly title?: string
  /** The failed assertion. The page shows its message, and opens at the entry whose `seq` is `nearest`. */
  readonly failure?: FailedAssertion
  /** Port of the page. Default 0, which selects a free port. */
  readonly port?: number
  /** Receives the text with the link. Default: standard error, which test runners show immediately. */
  readonly print?: (text: string) => void
}

/** Tenant that the page shows first. */
const tenant = 'main'

/** Time in which requests of the page can finish after the test has continued, in milliseconds of host time. */
const grace = 100

/**
 * Shows the sandbox of a test in a browser, and waits. The function prints a link to the page. It resolves when you
 * press "Continue" in the page or Ctrl-C in the terminal. If the runner runs tests in child processes, Ctrl-C ends the
 * whole test run. The link works once, in one browser. The server of the page is closed when the test continues. The
 * timeout of the test is switched off if the runner supports that. If `CI` is set, the function prints one line and
 * does not wait. Actions in the page change the sandbox of the test. For example, if you advance time in the page, the
 * test continues at the later time.
 * @throws Error when it cannot listen
 * @example
 * await checkout()
 * await inspect(sandbox) // opens the inspector and waits until you continue
 */
export async function inspect(sandbox: Sandbox, options: InspectOptions = {}): Promise<void> {
  checkOptionNames('inspect()', options, { title: true, failure: true, port: true, print: true })
  if (options.failure !== undefined)
    checkOptionNames('inspect(): failure', options.failure, { message: true, nearest: true })
  const isLate = !liftTimeout() && hasTimeout()
  await waitFor(sandbox, options, isLate ? ongoing : '')
}

/** Note for runners that cannot switch off the timeout of a running test. */
const ongoing = 'The timeout of the test continues while the test waits. Set a timeout that is long enough.\n'

/**
 * Serves the page and waits until the test may continue. This function does not change the timeout of the test.
 * @param note text to print after the link
 */
export async function waitFor(sandbox: Sandbox, options: InspectOptions, note = ''): Promise<void> {
  const { title = 'test', failure, port = 0, print = toStandardError } = options
  if (isUnattended()) {
    print('stuntdouble: inspect() does not wait, because CI is set.\n')
    return
  }
  const controlToken = randomBytes(24).toString('base64url')
  // Allow `NODE_ENV=production`, because this server does not replace a service of the app.
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
      const how = endsAllWithSignal()
        ? 'Ctrl-C in this terminal ends the whole test run'
        : 'Ctrl-C in this terminal also continues the test'
      print(
        `stuntdouble: ${plainText(title)} waits. Open\n  ${server.inspectorUrl}\nand press "Continue" there; ${how}.\n${note}`,
      )
    })
  } finally {
    server.release(tenant)
    await server.close({ grace })
  }
}

/**
 * Removes colors and secrets from the message of an assertion. Also removes the timeline, because the page shows the
 * timeline anyway.
 */
function shown(message: string, { traffic }: Sandbox): string {
  // An import of `node:util` would read every export, and some of them load further modules.
  const { stripVTControlCharacters } = process.getBuiltinModule('node:util')
  const told = stripVTControlCharacters(withoutTimeline(message, failureOf({ message })?.replay))
  return multiLine(traffic.redaction().text(told))
}

/** Returns whether the environment variable `CI` is set to a value other than an empty text, `0` or `false`. */
export function isUnattended(): boolean {
  return !['', '0', 'false'].includes((process.env.CI ?? '').toLowerCase())
}

/** Writes to standard error directly, because runners hold back the logs of a test until it has ended. */
function toStandardError(text: string): void {
  process.stderr.write(text)
}

/** Returns whether a test runner has started this process as a child process. Ctrl-C then ends the runner, too. */
function endsAllWithSignal(): boolean {
  return process.env.VITEST !== undefined || hostProcess().send !== undefined
}

/** Returns the real `process` object. Jest gives tests a copy of this object, and the copy receives no signals. */
function hostProcess(): NodeJS.Process {
  return runInThisContext('process') as NodeJS.Process
}
