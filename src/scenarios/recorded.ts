import { evaluators } from '../../matchers/index.js'
import { isUtf8, text } from '../kernel/bytes.js'
import { plural } from '../kernel/plural.js'
import type { AttemptEntry } from '../kernel/traffic-log.js'
import { failureText, withoutTimeline } from '../report/failure-text.js'
import { excerptBytes, plainText } from '../report/safe-text.js'
import type { Sandbox } from '../sandbox/sandbox.js'
import type { ExpectationValues, ExpectationVerdict } from './expectations.js'
import { register } from './scenario.js'
import type { Scenario } from './written-scenario.js'

// Plays the responses that production recorded, and compares them with those of the code under test. Recorded responses
// are played only at URLs where no code responds. The expectation `recorded` checks whether the recorded failure still
// occurs.

type Recorded = ExpectationValues['recorded']

/** Number of characters of a recorded response that a scenario keeps for comparison. */
export const maxRecordedReplyBytes = 300

/**
 * Finds out at which recorded destinations code responds. Call this function before the code under test is registered,
 * and the returned function afterwards. The returned function registers the recorded responses where no code responds.
 * It returns the other URLs, at which code responds.
 */
export function beforeRecords(
  { destinations = [] }: Scenario,
  sandbox: Sandbox,
  isElsewhere: (url: string) => boolean,
): () => ReadonlySet<string> {
  const { destinations: registered } = sandbox
  const records = destinations
    .filter(({ recorded }) => recorded !== undefined)
    .map((destination) => ({ destination, before: registered.responderAt(destination.url) }))
  return () => {
    const underTest = new Set<string>()
    for (const { destination, before } of records) {
      const { url, script = [] } = destination
      const now = registered.responderAt(url)
      const isAnswered = isElsewhere(url) || (now !== undefined && now !== before)
      if (!isAnswered) register(destination, sandbox)
      else underTest.add(url)
      // Faults in the script of the scenario also apply to the code under test.
      if (isAnswered && !isElsewhere(url) && script.length > 0) registered.script(url, script as never)
    }
    return underTest
  }
}

/** Evaluates the expectation `recorded`, either for code under test or for recorded responses that were played. */
export function checkRecorded(
  recorded: Recorded,
  ids: readonly string[],
  sandbox: Sandbox,
  underTest: ReadonlySet<string>,
): ExpectationVerdict {
  const url = sandbox.traffic.ofType('published').find(({ messageId }) => messageId === ids[0])?.url ?? ''
  const then = `recorded for ${recorded.message}: ${courseOf(recorded)}`
  if (!underTest.has(url))
    return playedBack(recorded, ids, sandbox, `${then}; played because no code responds at ${url}`)
  const expected = `${then}. Expected in this run: the app accepts the message`
  for (const id of ids) {
    const now = sandbox.traffic
      .ofType('attempt')
      .filter(({ messageId, kind }) => messageId === id && kind === 'message')
    const wrong = wrongWith(recorded, now)
    if (wrong !== undefined) return { holds: false, expected, explanation: explained(recorded, url, wrong) }
  }
  return { holds: true, expected }
}

function playedBack(
  { attempts, state }: Recorded,
  ids: readonly string[],
  sandbox: Sandbox,
  expected: string,
): ExpectationVerdict {
  const messageId = { asymmetricMatch: (id: unknown) => ids.includes(id as string), toString: () => 'the message' }
  const verdict = evaluators.toHaveDelivered(sandbox, { messageId, attempts, state } as never)
  if (verdict.pass) return { holds: true, expected }
  const failure = verdict.failure(false)
  return { holds: false, expected, explanation: withoutTimeline(failureText(failure), failure.replay) }
}

/** Failure of the code under test, and the attempt that shows the failure. */
interface Wrong {
  readonly attempt: AttemptEntry | undefined
  readonly ordinal: number
  readonly verdict: string
}

function wrongWith(recorded: Recorded, now: readonly AttemptEntry[]): Wrong | undefined {
  const failures = recorded.attempts.filter((status) => !isSuccess(status))
  const ended = now.filter(({ outcome }) => outcome !== undefined)
  const again = ended.findIndex(({ outcome }) => !isSuccess(outcome!.status) && failures.includes(outcome!.status))
  const isDelivered = ended.some(({ outcome }) => outcome!.state === 'DELIVERED')
  if (again >= 0) {
    const verdict = isSame(recorded, ended[again]!)
      ? 'It still fails as recorded'
      : 'It fails with the recorded status, but with another response'
    const after = isDelivered ? '; a later attempt was delivered' : ''
    return { attempt: ended[again], ordinal: again + 1, verdict: `${verdict}${after}.` }
  }
  const last = ended.at(-1)
  if (isDelivered) return undefined
  if (last !== undefined) return { attempt: last, ordinal: ended.length, verdict: 'It fails, but not as recorded.' }
  if (recorded.attempts.length === 0) return undefined
  return { attempt: undefined, ordinal: 0, verdict: 'The message was never delivered to the code under test.' }
}

function explained(recorded: Recorded, url: string, { attempt, ordinal, verdict }: Wrong): string {
  const then = `Recorded:  ${plainText(url)}: ${courseOf(recorded)}.`
  if (attempt === undefined) return `${then}\nNow:       ${verdict}`
  const { status, error, body, note } = attempt.outcome!
  const hasBody = body !== '' && note === undefined
  const answer = answerText(status, hasBody ? excerptBytes(body, maxRecordedReplyBytes) : undefined, error)
  const how = note === undefined ? '' : ` (${plainText(note)})`
  return `${then}\nNow:       the code under test, at attempt ${ordinal}: ${answer}${how}. ${verdict}`
}

/** Returns a summary of the attempts in production, such as `500 "boom", 4 attempts, a dead letter`. */
function courseOf({ attempts, state, response, error }: Recorded): string {
  const end = ends[state] ?? state
  const last = attempts.at(-1)
  if (last === undefined) return `no attempt, ${end}`
  const statuses = attempts.every((status) => status === last)
    ? plural(attempts.length, 'attempt')
    : `attempts ${attempts.map((status) => status || 'no response').join(', ')}`
  return `${answerText(last, response === undefined ? undefined : plainText(response), error)}, ${statuses}, ${end}`
}

const ends: Readonly<Record<string, string>> = {
  FAILED: 'a dead letter',
  DELIVERED: 'finally delivered',
  CANCELLED: 'cancelled',
  RETRY: 'not ended yet',
  CREATED: 'not ended yet',
}

function answerText(status: number, body: string | undefined, error: string | undefined): string {
  if (status === 0) return `no response${error === undefined ? '' : ` (${plainText(error)})`}`
  return body === undefined ? `${status}` : `${status} ${JSON.stringify(body)}`
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function isSame({ response }: Recorded, { outcome }: AttemptEntry): boolean {
  if (response === undefined) return true
  const { body } = outcome!
  return isUtf8(body) && text(body).slice(0, maxRecordedReplyBytes) === response
}
