import * as fault from '../../faults/constructors.js'
import type { DeliveryFault } from '../../faults/fault.js'
import { isUtf8, text, toBase64 } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import { iso } from '../../kernel/instant.js'
import { defaultPolicy } from '../../policy/policy.js'
import type { DialectName } from '../../protocol/dialect.js'
import { networkErrors } from '../../queue/destinations/delivery-script.js'
import { devUsers } from '../../queue/signing/public-users.js'
import type { Expectation } from '../expectations.js'
import { maxRecordedReplyBytes } from '../recorded.js'
import type { PublishStep, ScenarioStep } from '../step-values.js'
import type { Scenario, ScenarioDestination } from '../written-scenario.js'
import { type ImportedMessage, isNonRetryable, joined, parsedExpression } from './imported-messages.js'
import { type AttemptFact, ImportError, recordsOf } from './imported-records.js'
import { Redactor, type ReplacedSecret, type SecretKind } from './placeholders.js'

export interface ImportOptions {
  /** Dialect of the scenario. Default: `auto`. Then the scenario has no field for the dialect. */
  readonly dialect?: DialectName
  /** Kinds of secrets that stay in the scenario. All other secrets are replaced with placeholders. Default: none. */
  readonly keep?: readonly SecretKind[]
  /**
   * Expectation of the scenario. `same` (default): the code under test no longer fails as recorded, and without code
   * under test, the messages end as recorded. `delivered`: the messages are delivered.
   */
  readonly expect?: 'same' | 'delivered'
  readonly name?: string
}

/** Content of a file as parsed JSON. */
export interface ImportSource {
  /** Name of the file for error messages and notes. */
  readonly name: string
  readonly value: unknown
}

export interface Imported {
  readonly scenario: Scenario
  readonly redactions: readonly ReplacedSecret[]
  /**
   * Messages about assumptions where the records do not contain a fact, and about values that you must check for
   * secrets.
   */
  readonly notes: readonly string[]
}

/**
 * Converts dead letters, log entries and callback bodies of the real service to a scenario.
 * The scenario contains the recorded responses, and expects that the code under test no longer fails. All records of
 * one message are merged, and secrets are replaced by placeholders.
 * @throws ImportError when there is nothing to import
 */
export function importDeliveries(sources: readonly ImportSource[], options: ImportOptions = {}): Imported {
  const notes: string[] = []
  const facts = sources.flatMap(({ name, value }) => recordsOf(value, name, notes))
  const messages = joined(facts, notes)
  if (messages.length === 0) {
    throw new ImportError(
      `${sources.map(({ name }) => name).join(', ')}: no message found. Use files with dead letters, log entries or callback bodies.`,
    )
  }
  const redactor = new Redactor(options.keep)
  const scenario = new Writer(messages, redactor, notes, options).scenario()
  return { scenario, redactions: redactor.redactions, notes }
}

/** Part of the scenario for one imported message. */
interface Part {
  readonly message: ImportedMessage
  /** Name of the message in the scenario. */
  readonly as: string
  readonly publish: PublishStep
  readonly script: readonly { readonly at: number; readonly fault: DeliveryFault }[]
}

class Writer {
  readonly #parts: readonly Part[]

  constructor(
    readonly messages: readonly ImportedMessage[],
    readonly redactor: Redactor,
    readonly notes: string[],
    readonly options: ImportOptions,
  ) {
    this.#parts = messages.map((message, index) =>
      this.#part(message, messages.length === 1 ? 'message' : `message-${index + 1}`),
    )
  }

  scenario(): Scenario {
    const { options, messages } = this
    const [first] = messages
    const title =
      options.name ?? (messages.length === 1 ? `message ${first!.id}` : `${messages.length} messages from ${first!.id}`)
    return {
      name: title,
      description: `Imported from ${messages.length === 1 ? 'a record' : 'records'} of the service.`,
      startAt: iso(first!.createdAt),
      ...(options.dialect !== undefined && options.dialect !== 'auto' && { dialect: options.dialect }),
      given: { signingKeys: { current: devUsers[0].current, next: devUsers[0].next } },
      destinations: this.#destinations(),
      steps: this.#steps(),
      expect: this.#expectations(),
    }
  }

  #part(message: ImportedMessage, as: string): Part {
    return {
      message,
      as,
      publish: this.#publishStep(message, as),
      script: message.attempts.map((attempt) => ({ at: attempt.startedAt, fault: this.#fault(attempt, message) })),
    }
  }

  #publishStep({ id, facts, createdAt, attempts }: ImportedMessage, as: string): PublishStep {
    const { redactor } = this
    const url = (value: string | undefined, place: string): string | undefined =>
      value && redactor.url(value, `${id}.${place}`)
    const flow = [
      facts.parallelism !== undefined && `parallelism=${facts.parallelism}`,
      facts.rate !== undefined && `rate=${facts.rate}, period=${facts.period ?? 1}s`,
    ].filter(Boolean)
    const step: { -readonly [K in keyof PublishStep]?: PublishStep[K] | undefined } = {
      to: url(facts.url, 'url')!,
      as,
      method: facts.method === 'POST' ? undefined : facts.method,
      headers: this.#headers(facts.headers, `${id}.header`),
      ...this.#body(facts.body, `${id}.body`),
      retries: facts.maxRetries ?? defaultPolicy.retries,
      retryDelay: this.#retryDelay(facts.retryDelay, id),
      timeout: timeoutOf(facts.timeout, attempts),
      notBefore: facts.notBefore !== undefined && facts.notBefore > createdAt ? iso(facts.notBefore) : undefined,
      callback: url(facts.callback, 'callback'),
      callbackHeaders: this.#headers(facts.callbackHeaders, `${id}.callbackHeader`),
      failureCallback: url(facts.failureCallback, 'failureCallback'),
      failureCallbackHeaders: this.#headers(facts.failureCallbackHeaders, `${id}.failureCallbackHeader`),
      flowControlKey: facts.flowControlKey && redactor.text(facts.flowControlKey, `${id}.flowControlKey`),
      flowControlValue: flow.length > 0 ? flow.join(', ') : undefined,
      label: facts.labels?.map((label) => redactor.text(label, `${id}.labels`)),
      queue: facts.queue,
    }
    if (facts.urlGroup !== undefined)
      this.notes.push(
        `${id} went to an endpoint of the URL group ${facts.urlGroup}: the scenario publishes to the URL of the endpoint.`,
      )
    if (facts.scheduleId !== undefined)
      this.notes.push(
        `${id} was published by the schedule ${facts.scheduleId}. The scenario has no schedule and publishes the message once.`,
      )
    return Object.fromEntries(Object.entries(step).filter(([, value]) => value !== undefined)) as unknown as PublishStep
  }

  #retryDelay(expression: string | undefined, id: string): string | undefined {
    if (expression === undefined || parsedExpression(expression) !== undefined) return expression
    this.notes.push(`${id}.retryDelayExpression is invalid: the scenario uses the default backoff.`)
    return undefined
  }

  #headers(pairs: HeaderList | undefined, place: string): Record<string, string> | undefined {
    const headers: Record<string, string> = {}
    for (const [name, value] of pairs ?? []) {
      const spelled = this.#inWords(name)
      const clean = this.redactor.header(name, value, place)
      headers[spelled] = spelled in headers ? `${headers[spelled]}, ${clean}` : clean
    }
    return Object.keys(headers).length === 0 ? undefined : headers
  }

  /** Returns a header name. If it is a header of the service, the name has the prefix of the scenario's dialect. */
  #inWords(name: string): string {
    const prefix = this.options.dialect === 'neutral' ? 'Service-' : 'Upstash-'
    return name.replace(/^(?:upstash|service)-/i, prefix)
  }

  #body(body: ImportedMessage['facts']['body'], place: string): Pick<PublishStep, 'body' | 'bodyBase64'> {
    if (body === undefined) {
      this.notes.push(`${place} is not in the records, so the scenario publishes an empty body.`)
      return {}
    }
    if (body === '') return {}
    if (!isUtf8(body)) {
      this.notes.push(`${place} is not text, so the import replaced nothing in it. Check it for secrets.`)
      return { bodyBase64: toBase64(body) }
    }
    const shown = text(body)
    if (/^REDACTED:[\da-f]{64}$/.test(shown))
      this.notes.push(`${place} was redacted by the service. Replace it with a body that has the same fields.`)
    return { body: this.redactor.body(shown, place) }
  }

  #fault(
    attempt: AttemptFact & { readonly startedAt: number; readonly took: number },
    { id }: ImportedMessage,
  ): DeliveryFault {
    const step = this.#answer(attempt, `${id}.attempt ${(attempt.retried ?? 0) + 1}`)
    return attempt.took > 0 && step.kind !== 'hang' ? fault.delay(attempt.took, step) : step
  }

  #answer(attempt: AttemptFact, place: string): DeliveryFault {
    const { status, error = '' } = attempt
    if (status < 200 || status > 599) return this.#networkFault(error, place)
    const body =
      attempt.body === '' || !isUtf8(attempt.body)
        ? undefined
        : this.redactor.body(text(attempt.body), `${place} response`)
    if (isNonRetryable(attempt)) return { kind: 'non-retryable', ...(body !== undefined && { body }) }
    const headers = this.#answerHeaders(attempt.headers, place)
    if (status === 200 && body === undefined && headers === undefined) return { kind: 'pass' }
    return { kind: 'status', status, ...(headers && { headers }), ...(body !== undefined && { body }) }
  }

  #answerHeaders(pairs: HeaderList, place: string): Record<string, string> | undefined {
    const kept = pairs.filter(([name]) => !ofConnection.test(name))
    return this.#headers(kept, `${place} response`)
  }

  #networkFault(error: string, place: string): DeliveryFault {
    for (const [kind, pattern] of networkFaults) if (pattern.test(error)) return { kind }
    this.notes.push(
      `${place} got no response${error === '' ? ', and the records contain no reason' : ` (${this.redactor.text(error, place)})`}: the scenario assumes a connection reset.`,
    )
    return { kind: 'reset' }
  }

  #destinations(): ScenarioDestination[] {
    const byUrl = new Map<string, { at: number; fault: DeliveryFault }[]>()
    for (const { publish, script } of this.#parts) {
      byUrl.set(publish.to, [...(byUrl.get(publish.to) ?? []), ...script])
    }
    const callbacks = this.#parts.flatMap(({ publish }) => [publish.callback, publish.failureCallback])
    for (const url of callbacks) if (url !== undefined && !byUrl.has(url)) byUrl.set(url, [])
    return [...byUrl].map(([url, script]) => {
      // Sort the steps by the times of their attempts, because all messages to one destination share one script. Remove
      // `pass` steps at the end of the script, because they have no effect.
      const steps = [...script].sort((a, b) => a.at - b.at).map(({ fault }) => fault)
      while (steps.at(-1)?.kind === 'pass') steps.pop()
      return { url, recorded: steps }
    })
  }

  #steps(): ScenarioStep[] {
    const moments = this.#parts.flatMap(({ message, as, publish }) => [
      { at: message.createdAt, step: { publish } as ScenarioStep },
      ...(message.cancelledAt === undefined ? [] : [{ at: message.cancelledAt, step: { cancel: as } as ScenarioStep }]),
    ])
    moments.sort((a, b) => a.at - b.at)
    const steps: ScenarioStep[] = []
    let now = moments[0]!.at
    for (const { at, step } of moments) {
      if (at > now) steps.push({ advanceTo: iso(at) })
      now = Math.max(now, at)
      steps.push(step)
    }
    const open = this.#parts.filter(({ message }) => message.state === 'OPEN')
    // If a message had not ended in the last record, stop the scenario at the time of this record, because later events
    // are unknown.
    if (open.length > 0) steps.push({ advanceTo: iso(Math.max(now, ...open.map(({ message }) => message.lastSeenAt))) })
    else steps.push({ drain: true })
    return steps
  }

  #expectations(): Expectation[] {
    if (this.options.expect === 'delivered') return this.#parts.map(({ as }) => ({ delivered: { message: as } }))
    return this.#parts.map(({ message, as, script }) => {
      const attempts = message.attempts.map(({ status }) => (status < 200 ? 0 : status))
      const state = message.state === 'OPEN' ? (attempts.length > 0 ? 'RETRY' : 'CREATED') : message.state
      const response = answerOf(script.at(-1)?.fault)
      return {
        recorded: {
          message: as,
          attempts,
          state,
          ...(response !== undefined && { response: response.slice(0, maxRecordedReplyBytes) }),
        },
      }
    })
  }
}

function answerOf(fault: DeliveryFault | undefined): string | undefined {
  if (fault?.kind === 'delay') return answerOf(fault.then as DeliveryFault | undefined)
  const body = fault !== undefined && 'body' in fault ? fault.body : undefined
  return typeof body === 'string' ? body : undefined
}

const networkFaults: readonly (readonly [
  'hang' | 'refused' | 'unresolved-host' | 'bad-certificate' | 'reset',
  RegExp,
])[] = [
  ['hang', /deadline exceeded|time[d -]?out/i],
  ['refused', /refused/i],
  ['unresolved-host', /no such host|ENOTFOUND|EAI_AGAIN|server misbehaving/i],
  ['bad-certificate', /certificate|x509|tls:/i],
  ['reset', new RegExp(`${networkErrors.reset}|ECONNRESET|connection reset|unexpected EOF|\\bEOF\\b|broken pipe`, 'i')],
]

/**
 * Headers of recorded responses that are not replayed. They describe the connection, or the encoding of a body that is
 * stored without this encoding.
 */
const ofConnection =
  /^(?:connection|keep-alive|transfer-encoding|content-length|content-encoding|date|server|via|alt-svc|nel|report-to|cf-.*|x-vercel-.*|x-amz-.*|x-request-id|upgrade|trailer|te|vary|age|etag|strict-transport-security)$/i

/** Returns the timeout of a message. If no record contains it, uses the duration of an attempt that timed out. */
function timeoutOf(timeout: number | undefined, attempts: ImportedMessage['attempts']): string | undefined {
  if (timeout !== undefined) return `${timeout}s`
  const hung = attempts.find(
    ({ status, error, took }) => status < 200 && /deadline exceeded|time[d -]?out/i.test(error ?? '') && took > 0,
  )
  return hung === undefined ? undefined : `${Math.max(1, Math.round(hung.took / 1000))}s`
}

export { ImportError }
