import type { Bytes } from '../../kernel/bytes.js'
import type { HeaderList } from '../../kernel/http.js'
import type { Redaction } from '../settings/redacted-fields.js'
import type { Message } from './message.js'

/** An answer, as far as a run looks at it. */
export interface RunReply {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Bytes
  /** Why there is no answer. */
  readonly error?: string | undefined
}

/** What an attempt came to: an answer, or why there is none. */
export interface EndpointReply extends RunReply {
  readonly error?: string
  readonly note?: string
  /** Nothing will come: the attempt ends with its time-out. */
  readonly never?: true
}

/** A delivery on its way to the endpoint of a run. */
export interface StagedDelivery {
  readonly message: Message
  /** Of the attempt's traffic entry. */
  readonly seq: number
  /** Asks the endpoint with another body: unseen by logs and recorders, and in no time. */
  probe(body: Bytes): EndpointReply | Promise<EndpointReply>
  /** Delivers as if nothing had been asked. */
  send(): EndpointReply | Promise<EndpointReply>
}

/** What a message has to do with the workflow run that it belongs to. The queue asks, the workflow room answers. */
export interface RunPart {
  readonly runId: string
  /** Virtual milliseconds. */
  readonly runCreatedAt: number
  readonly runUrl: string
  /** What the trigger of the run hides. */
  readonly redact: Redaction | undefined
  /** The run has ended: what is left of the message is dropped. */
  readonly isOver: boolean
  /** Whether only its last attempt is reported, and failing is a result instead of a dead letter. [workflow.md 0, 1] */
  readonly isCall: boolean
  /** The step that it carries or is made for; `undefined` where it speaks of none. */
  step(message: Message): { readonly stepName: string; readonly stepType: string } | undefined
  /** Headers of its deliveries beside those of every message, in the words of the message. */
  headers(message: Message): HeaderList
  /** What its deliveries carry. */
  body(message: Message): Bytes
  /** SHA-256 of that, where it is known without another look at all of it. */
  bodyHash(message: Message): Bytes | undefined
  /** Why a successful answer fails the message at once, if it does. [workflow.md 2.5] */
  wrongWith(message: Message, reply: RunReply): string | undefined
  /** What a message that reports on it is to the run. */
  reporter(kind: 'callback' | 'failure-callback'): RunPart | undefined
  /** What a report says of it beyond what every report says. */
  reported(body: Record<string, unknown>): Record<string, unknown>
  /** What its dead letter tells of the run. */
  deadLetter(): Record<string, unknown>
  /** How the failure function of the run stands. */
  readonly failureFunctionState: string | undefined
  accepted(message: Message): void
  /** What a test has made of the step that this delivery would run; `undefined` for an ordinary delivery. */
  stage?(delivery: StagedDelivery): Promise<EndpointReply> | undefined
  begins(message: Message): void
  /** An attempt has ended, the message perhaps too. Reports on it have been accepted. */
  ends(message: Message, reply: RunReply, error: string | undefined): void
  /** It ended without another attempt: it was cancelled, or a fault made it vanish. */
  left(message: Message): void
  /** It is a dead letter now; its failure callback has not been accepted yet. */
  failed(message: Message, reply: RunReply, dlqId: string): void
}
