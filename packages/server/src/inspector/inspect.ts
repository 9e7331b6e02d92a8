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
  /** Name of the sandbox in the page. Default `test`. */
  readonly title?: string
  /** Assertion that failed: the page opens at it. `nearest` is the `seq` of an entry. */
  readonly failure?: FailedAssertion
  /** Port of the page. Default 0, a free one. */
  readonly port?: number
  /** Receives the text with the link. Default: standard error, which test runners show immediately. */
  readonly print?: (text: string) => void
}

/** Tenant that the page shows first. */
const tenant = 'main'

/** Host milliseconds that a request of the page may take after it has let the test continue. */
const grace = 100

/**
 * Shows the sandbox of a test in a browser and waits. It prints a link, and resolves after "Continue" in the page or
 * Ctrl-C in the terminal. Ctrl-C ends the whole run if tests run in processes of a runner. The link works once and for
 * one browser, and the server is closed afterwards. The timeout of the test is lifted if the runner can do that. If
 * `CI` is set, it prints one line and does not wait.
 * Actions in the page change the sandbox of the test: if the page advances time, time has advanced for the test.
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

/** Note for runners whose timeout cannot be lifted. */
const ongoing = 'The timeout of the test continues while it waits. Set a timeout that is long enough.\n'

/** Serves the page and waits, for a test without a timeout. @param note further text for the user */
export async function waitFor(sandbox: Sandbox, options: InspectOptions, note = ''): Promise<void> {
  const { title = 'test', failure, port = 0, print = toStandardError } = options
  if (isUnattended()) {
    print('stuntdouble: inspect() does not wait, because CI is set.\n')
    return
  }
  const controlToken = randomBytes(24).toString('base64url')
  // This server replaces no service, so it starts even if the environment of the app is production.
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
        ? 'Ctrl-C in this terminal ends the whole run'
        : 'Ctrl-C in this terminal continues, too'
      print(
        `stuntdouble: ${plainText(title)} waits. Open\n  ${server.inspectorUrl}\nand press "Continue" there; ${how}.\n${note}`,
      )
    })
  } finally {
    server.release(tenant)
    await server.close({ grace })
  }
}

/** Returns a message without colors, secrets and the timeline, which the page shows itself. */
function shown(message: string, { traffic }: Sandbox): string {
  const told = stripVTControlCharacters(withoutTimeline(message, failureOf({ message })?.replay))
  return multiLine(traffic.redaction().text(told))
}

/** Returns whether `CI` is set, to anything except an empty text, `0` and `false`. */
export function isUnattended(): boolean {
  return !['', '0', 'false'].includes((process.env.CI ?? '').toLowerCase())
}

/** Writes to standard error directly, because runners hold back the logs of a test until it has ended. */
function toStandardError(text: string): void {
  process.stderr.write(text)
}

/** Returns whether a runner started this process, so that Ctrl-C ends the runner, too. */
function endsAllWithSignal(): boolean {
  return process.env.VITEST !== undefined || hostProcess().send !== undefined
}

/** Returns the real process. Jest gives tests a copy, which receives no signals. */
function hostProcess(): NodeJS.Process {
  return runInThisContext('process') as NodeJS.Process
}
