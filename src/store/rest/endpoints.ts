import type { FaultFacts, FaultSource } from '../../faults/fault.js'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { VirtualClock } from '../../kernel/clock.js'
import type { Work } from '../../kernel/work.js'
import { binary, empty, jsonText, storeTokenQuery, tokenOf } from '../../protocol/call.js'
import type { Answer, Endpoint, Service, ServiceCall } from '../../protocol/service.js'
import type { User } from '../access/access.js'
import { replyError, requestTooLarge, unauthorized } from '../command/errors.js'
import { type Reply, ReplyError } from '../command/reply.js'
import { asksToWait } from '../commands/stream-arguments.js'
import type { CommandTable } from '../commands/table.js'
import { freeWords, isMetered, mostRows, refusedCount, refusedStorage, refusedWork, unitsPerWord } from '../limits.js'
import type { LoggedStore, Sender } from '../logged-store.js'
import { sizeOfReply, sizeOfWords, transactionOverhead } from '../meter.js'
import { loadSearch, SearchNotLoaded, searchLoading, searchMention } from '../search/loading.js'
import type { Store } from '../store.js'
import {
  AnswerRoom,
  corsHeaders,
  type Encoding,
  encodingOf,
  errorAnswer,
  errorIn,
  failed,
  plain,
  syncHeader,
} from './answers.js'
import { type Argv, argvOfJson, argvOfPath, rowsOfJson } from './request.js'
import { StaleReads } from './stale-reads.js'
import { commandFacts, executeStruck, legible, storeFaults } from './struck-commands.js'
import { subscriptionEndpoints } from './subscriptions.js'

/** Chars that JSON may have for one byte: `\u0001`. */
const longestEscape = 6
/** Bytes of quotes, commas and space that are read for nothing. */
const roomForSyntax = 1_048_576

export type Via = 'request' | 'pipeline' | 'transaction'

/** The store behind its REST interface. */
export class StoreFront {
  readonly store: Store
  /** Bytes of the largest row and of the largest reply. */
  readonly #longest: number
  readonly #longestKey: number
  readonly #isMetered: boolean
  readonly staleReads: StaleReads | undefined

  constructor(
    readonly journal: LoggedStore,
    readonly clock: VirtualClock,
    readonly faults?: FaultSource | undefined,
  ) {
    this.store = journal.store
    const { policy } = this.store.options
    this.#longest = policy.maxRequestSize
    this.#longestKey = policy.maxKeySize
    this.#isMetered = isMetered(policy)
    if (faults === undefined) return
    const staleReads = new StaleReads(journal.store)
    this.staleReads = staleReads
    faults.watch('stale-read', (rules) => (rules > 0 ? staleReads.begin() : staleReads.end()))
  }

  /** Refuses the body of a command before it is read where no command that may be sent is so long. */
  checkBody({ body }: ServiceCall): void {
    if (body.length > longestEscape * this.#longest + roomForSyntax) throw this.#oversized(body.length, 413)
  }

  /** The size of a row, which may be sent. */
  measured(argv: Argv): number {
    const size = sizeOfWords(argv)
    if (size > this.#longest) throw this.#oversized(size, 413)
    return size
  }

  /** Runs one row for a request, within the limits of the plan. */
  execute(argv: Argv, user: User, via: Via, call: ServiceCall, size?: number): Reply {
    const received = this.admit(argv, { user, via, cause: call.cause }, [this.store.commands], size)
    const run = (): Reply => {
      const { length } = argv[0]!
      // XREAD or XREADGROUP: every command is looked at, and two lengths tell nearly all of them apart.
      if ((length === 5 || length === 10) && asksToWait(argv))
        this.store.diagnostics.noticeBlock(argv[0]!.toUpperCase())
      return this.journal.execute(argv, user, via, call.cause)
    }
    const reply = this.isStruck ? executeStruck(this, { argv, user, via, run }, call) : run()
    this.settle(received, reply)
    return reply
  }

  /** Whether rules may strike commands. */
  get isStruck(): boolean {
    return this.faults !== undefined && !this.faults.quiet && this.faults.armed['store.command'] !== undefined
  }

  /**
   * Throws `ReplyError` for a row that the plan does not allow. It stands in the log as one that the store refuses does.
   * @param tables where the sender's commands are
   * @param size what `measured()` told
   * @returns the same
   */
  admit(argv: Argv, sender: Sender, tables: readonly CommandTable[], size?: number): number {
    try {
      const received = size ?? this.measured(argv)
      this.#check(argv, received, tables)
      return received
    } catch (error) {
      const { user, via, cause } = sender
      if (error instanceof ReplyError) this.journal.note(argv, user, via, cause, { error: error.message })
      throw error
    }
  }

  #check(argv: Argv, received: number, tables: readonly CommandTable[]): void {
    const { store } = this
    if (this.#isMetered || received > this.#longestKey) {
      const refusal = refusedCount(1, store) ?? refusedStorage(argv, store, tables)
      if (refusal !== undefined) throw refusal
    }
    // Nothing more is begun where replies have taken what there was.
    if (argv.length > freeWords || store.work.left < 0) store.work.charge(unitsPerWord * argv.length)
  }

  /** Counts what went through. Throws `ReplyError` for a reply that is too large. */
  settle(received: number, reply: Reply): void {
    const sent = sizeOfReply(reply)
    this.store.meter.countBytes(received, sent)
    if (sent > this.#longest) throw this.#oversized(sent, 200)
  }

  /** The same, and hands it on. */
  settled(received: number, reply: Reply): Reply {
    this.settle(received, reply)
    return reply
  }

  #oversized(size: number, status: 413 | 200): Oversized {
    return new Oversized(requestTooLarge(this.#longest, size, this.store.docs).message, status)
  }
}

/** Arguments that are too large are the request's fault; a reply that is too large, after the command ran, is nobody's. [store.md 10] */
export class Oversized extends ReplyError {
  constructor(
    message: string,
    readonly status: 413 | 200,
  ) {
    super(message)
  }
}

const methods = ['HEAD', 'GET', 'POST', 'PUT']

/** The endpoint that takes whatever has no path of its own, but for what it does. */
export const anyCommand: Omit<Endpoint<StoreFront, User>, 'run'> = {
  method: methods,
  path: '/**',
  auth: 'bearer',
  summary:
    'Runs one command, given as path, query and body, or as a JSON array posted to `/`; rows of commands posted to `/pipeline` in order, posted to `/multi-exec` as one transaction or not at all.',
  facts: requestFacts,
}

export const preflight: Endpoint<StoreFront, User> = {
  method: 'OPTIONS',
  path: '/**',
  auth: 'none',
  summary: 'CORS preflight',
  run: (call) => empty(200, preflightHeaders(call)),
  facts: requestFacts,
}

const endpoints: readonly Endpoint<StoreFront, User>[] = [
  preflight,
  ...subscriptionEndpoints,
  {
    ...anyCommand,
    run(call, front) {
      const { run } = formOf(call)
      const { search } = front.store.db
      if (!search.isWatching && !searchMention.test(call.body) && !searchMention.test(call.path))
        return answered(call, front, run)
      const loading = searchLoading([call.path, call.query, call.body], front.store)
      return loading?.then(() => answered(call, front, run)) ?? answered(call, front, run)
    },
  },
]

export function storeService(
  journal: LoggedStore,
  clock: StoreFront['clock'],
  faults?: FaultSource,
): Service<StoreFront, User> {
  const { store } = journal
  return {
    name: 'store',
    state: new StoreFront(journal, clock, faults),
    faults: storeFaults,
    endpoints,
    authorize(call) {
      const token = tokenOf(call, storeTokenQuery)
      const user = token === undefined ? undefined : store.access.userOf(token)
      if (user === undefined) return errorAnswer(unauthorized(call.vocabulary.docs), 401, call)
      call.user = user
      return undefined
    },
    notFound: () => empty(405),
    methodNotAllowed: () => empty(405),
    failure: () => undefined,
  }
}

// ---- what all forms share ---------------------------------------------------------------------------------------

export type StoreCall = ServiceCall<User>

interface Form {
  rows(call: ServiceCall, store: Store): readonly Argv[]
  run(call: StoreCall, front: StoreFront, encoding: Encoding): Answer
}

/** Headers first, then the form; errors as the service words them. */
function answered(call: StoreCall, front: StoreFront, run: Form['run']): Answer {
  let encoding: Encoding = { form: 'json', strings: plain }
  let answer: Answer
  try {
    encoding = encodingOf(call)
    answer = front.store.asOneRequest(call.vocabulary.docs, () => run(call, front, encoding))
  } catch (error) {
    const refused = error instanceof SearchNotLoaded ? notLoaded(error) : error
    if (!(refused instanceof ReplyError)) throw error
    answer = failed(refused, 400, encoding)
  }
  return dressed(answer, call, front.store)
}

/** An answer with the headers that all of them have. */
export function dressed({ status, headers, body }: Answer, call: StoreCall, store: Store): Answer {
  // Not pushed: an array that grows makes room for many, and the traffic log keeps it.
  const all = headers.concat(corsHeaders(call), status < 300 ? [syncHeader(store)] : [])
  return { status, headers: all, body }
}

/** Nothing in the request told that it would search, as the name of a function does not. */
export function notLoaded({ language }: SearchNotLoaded): ReplyError {
  void loadSearch([language])
  return new ReplyError('ERR SEARCH commands are being loaded, try again')
}

// ---- the forms --------------------------------------------------------------------------------------------------

function single(call: StoreCall, front: StoreFront, encoding: Encoding): Answer {
  let reply: Reply
  try {
    front.checkBody(call)
    reply = front.execute(argvOf(call, front.store.work), call.user, 'request', call)
  } catch (error) {
    if (error instanceof Oversized) return failed(error, error.status, encoding)
    throw error
  }
  return answerTo(reply, new AnswerRoom(front.store.options.policy, front.store.work), encoding)
}

/** The answer to a request of one command. */
export function answerTo(reply: Reply, room: AnswerRoom, encoding: Encoding): Answer {
  const body = room.item(reply, encoding)
  if (room.isFull) return failed(room.refusal(true), 200, encoding)
  return encoding.form === 'resp2' ? binary(body) : jsonText(body)
}

/** @param work what the reading is charged to, where the store runs what is read */
export function argvOf(call: ServiceCall, work?: Work): Argv {
  const mayHaveBody = call.method === 'POST' || call.method === 'PUT'
  if (call.path !== '/') return argvOfPath(call.path, call.query, mayHaveBody ? call.body : latin1(''))
  // A reading request for `/` without a body has no command; a posted one has an empty JSON text.
  if (call.body === '' && !mayHaveBody) throw replyError('emptyCommand')
  return argvOfJson(call.body, work)
}

/** @param work what the reading is charged to, where the store runs what is read */
export function rowsOf(call: ServiceCall, store: Store, work?: Work): readonly Argv[] {
  return rowsOfJson(call.body, mostRows(store), work)
}

function pipeline(call: StoreCall, front: StoreFront, encoding: Encoding): Answer {
  const { store } = front
  const rows = rowsOf(call, store, store.work)
  const room = new AnswerRoom(store.options.policy, store.work)
  const items = rows.map((argv) => {
    if (room.isFull) return errorIn(room.refusal(false), encoding)
    return rowItem(() => front.execute(argv, call.user, 'pipeline', call), room, encoding)
  })
  return answerOf(items, encoding)
}

/** The answer to a request of several commands. */
export function answerOf(items: readonly Bytes[], { form }: Encoding): Answer {
  return form === 'resp2' ? binary(latin1(items.join(''))) : jsonText(latin1(`[${items.join(',')}]`))
}

/** Nothing runs when anything is wrong with any row; the answer is then the text for that row. [store.md 4] */
function transaction(call: StoreCall, front: StoreFront, encoding: Encoding): Answer {
  const { store } = front
  const rows = rowsOf(call, store, store.work)
  const sizes: number[] = []
  const commands = rows.map((argv) => {
    sizes.push(front.measured(argv))
    return store.checkRow(argv, call.user)
  })
  const refusal = refusedCount(rows.length + transactionOverhead, store) ?? refusedWork(commands, rows, store)
  if (refusal !== undefined) throw refusal
  store.meter.countTransaction()
  const room = new AnswerRoom(store.options.policy, store.work)
  const items = store.waiting.transaction(() =>
    rows.map((argv, at) =>
      rowItem(() => front.execute(argv, call.user, 'transaction', call, sizes[at]!), room, encoding),
    ),
  )
  return answerOf(items, encoding)
}

/** What one row answers, when there is room for it. */
export function rowItem(execute: () => Reply, room: AnswerRoom, encoding: Encoding): Bytes {
  try {
    const reply = execute()
    const item = room.item(reply, encoding)
    return room.isFull ? errorIn(room.refusal(true), encoding) : item
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return errorIn(error, encoding)
  }
}

/** Paths with a meaning of their own, matched exactly; every other path is a command. [store.md 1.1] */
const forms: Readonly<Record<string, Form>> = {
  '/pipeline': { rows: rowsOf, run: pipeline },
  '/multi-exec': { rows: rowsOf, run: transaction },
}
const one: Form = { rows: (call) => [argvOf(call)], run: single }

function formOf({ path }: ServiceCall): Form {
  return forms[path] ?? one
}

function requestFacts(call: ServiceCall, { store }: StoreFront): FaultFacts {
  return legible(() => commandFacts(formOf(call).rows(call, store), store))
}

function preflightHeaders(call: ServiceCall): (readonly [string, string])[] {
  const headers = corsHeaders(call)
  headers.push(['access-control-allow-methods', methods.join(', ')])
  const wanted = call.header('access-control-request-headers')
  if (wanted !== undefined) headers.push(['access-control-allow-headers', wanted])
  return headers
}
