import { Account } from '../../kernel/account.js'
import { type IndexedRecord, type Page, type RecordQuery, Records } from '../../kernel/indexed-records.js'
import { loggedAsJson } from '../../kernel/views.js'
import type { RawOutcome } from '../destinations/raw-response.js'
import type { Message, MessageView } from '../message/message.js'
import { fieldsThrough, weightOfMessage } from '../message/message-log.js'

export interface DeadLetterView extends Pick<DeadLetter, 'id' | 'createdAt'> {
  readonly message: MessageView
  readonly response: Pick<DeadLetter['response'], 'status' | 'error' | 'body'>
}

/** A message that failed for good, with the last answer. [queue.md 5.5] */
export class DeadLetter implements IndexedRecord {
  static {
    loggedAsJson(DeadLetter)
  }

  gone = false

  constructor(
    /** `<milliseconds>-<n>` */
    readonly id: string,
    readonly seq: number,
    readonly createdAt: number,
    readonly message: Message,
    readonly response: RawOutcome,
  ) {}

  toJSON(): DeadLetterView {
    const { id, createdAt: time, message, response: reply } = this
    const { status, error, body } = reply
    return {
      id,
      createdAt: time,
      message: message.toJSON(),
      response: { status, ...(error !== undefined && { error }), body },
    }
  }
}

/** The dead-letter queue, oldest first, within its retention. */
export class DeadLetters {
  readonly #byId = new Map<string, DeadLetter>()
  readonly #records = new Records<DeadLetter>({
    ...fieldsThrough<DeadLetter>(),
    dlqIds: (letter) => letter.id,
    responseStatus: (letter) => String(letter.response.status),
    workflowRunId: ({ message }) => message.part?.runId,
    workflowUrl: ({ message }) => message.part?.runUrl,
    workflowCreatedAt: ({ message }) => message.part && String(message.part.runCreatedAt),
  })
  readonly #retention: number
  readonly #now: () => number
  readonly #kept: Account
  #sequence = 0
  #latest = -1
  #atLatest = 0

  /** @param kept what it may hold: beyond it the oldest go before their time */
  constructor(now: () => number, retention: number, kept: Account = new Account(Number.POSITIVE_INFINITY)) {
    this.#now = now
    this.#retention = retention
    this.#kept = kept
  }

  get size(): number {
    this.#prune()
    return this.#byId.size
  }

  /** @param known id and time of one that is loaded, in the order of the times */
  add(message: Message, reply: RawOutcome, known?: { readonly id: string; readonly time: number }): DeadLetter {
    this.#prune()
    const now = known?.time ?? this.#now()
    this.#atLatest = now === this.#latest ? this.#atLatest + 1 : 0
    if (known !== undefined) this.#atLatest = Math.max(this.#atLatest, Number(known.id.split('-')[1]))
    this.#latest = now
    const letter = new DeadLetter(known?.id ?? `${now}-${this.#atLatest}`, ++this.#sequence, now, message, reply)
    this.#byId.set(letter.id, letter)
    this.#records.add(letter)
    this.#kept.put(weightOf(letter))
    while (this.#kept.held > this.#kept.limit && this.#byId.size > 1) this.delete(this.#records.first()!)
    return letter
  }

  get(id: string): DeadLetter | undefined {
    this.#prune()
    return this.#byId.get(id)
  }

  delete(letter: DeadLetter): void {
    if (!this.#byId.delete(letter.id)) return
    this.#kept.release(weightOf(letter))
    this.#records.delete(letter)
  }

  select(wanted: RecordQuery<DeadLetter>): Page<DeadLetter> {
    this.#prune()
    return this.#records.select(wanted)
  }

  #prune(): void {
    const oldest = this.#now() - this.#retention
    for (
      let first = this.#records.first();
      first !== undefined && first.createdAt < oldest;
      first = this.#records.first()
    ) {
      this.delete(first)
    }
  }
}

function weightOf({ message, response: reply }: DeadLetter): number {
  return weightOfMessage(message) + reply.body.length
}
