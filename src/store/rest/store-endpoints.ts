import type { FaultFacts, FaultSource } from '../../faults/fault.js'
import { type Bytes, latin1 } from '../../kernel/bytes.js'
import type { Work } from '../../kernel/work.js'
import { binary, empty, jsonText, storeTokenQuery, tokenOf } from '../../protocol/call.js'
import type { Endpoint, RawResponse, Service, ServiceRequest } from '../../protocol/service.js'
import { connectionBound } from '../access/categories.js'
import type { User } from '../access/user.js'
import { replyError, unauthorized } from '../command/errors.js'
import { type Reply, ReplyError } from '../command/reply.js'
import { blockingTable, commandTable } from '../commands/index.js'
import type { LoggedStore } from '../logged-store.js'
import { transactionOverhead } from '../meter.js'
import { loadSearch, searchLoading, searchMention } from '../search/load-search.js'
import { SearchNotLoaded } from '../search/stems.js'
import type { StoreEngine } from '../store-engine.js'
import { maxRows, refusedCount, refusedWork } from '../store-limits.js'
import { commandFacts, readableFacts, storeFaults } from './command-faults.js'
import { type Argv, argvOfJson, argvOfPath, rowsOfJson } from './request.js'
import {
  allowsCredentials,
  corsHeaders,
  type Encoding,
  encodingOf,
  errorIn,
  errorResponse,
  failed,
  plain,
  ResponseBudget,
  syncHeader,
} from './rest-responses.js'
import { Oversized, RestStore } from './store-front.js'
import { subscriptionEndpoints } from './subscriptions.js'

const methods = ['HEAD', 'GET', 'POST', 'PUT']

/** Endpoint for all paths that have no endpoint of their own. The `run` function is added elsewhere. */
export const anyCommand: Omit<Endpoint<RestStore, User>, 'run'> = {
  method: methods,
  path: '/**',
  auth: 'bearer',
  summary:
    'Runs one command, given as path, query and body, or as a JSON array posted to `/`. Commands posted to `/pipeline` run in order; commands posted to `/multi-exec` run as one transaction.',
  facts: requestFacts,
}

export const preflight: Endpoint<RestStore, User> = {
  method: 'OPTIONS',
  path: '/**',
  auth: 'none',
  summary: 'CORS preflight',
  run: (call) => empty(200, preflightHeaders(call)),
  facts: requestFacts,
}

const endpoints: readonly Endpoint<RestStore, User>[] = [
  preflight,
  ...subscriptionEndpoints,
  {
    ...anyCommand,
    run(call, front) {
      const { run } = formOf(call)
      const { search } = front.store.db
      if (!search.isWatching && !searchMention.test(call.body) && !searchMention.test(call.path))
        return answered(call, front, run)
      return answeredWithSearch(call, front, run)
    },
  },
]

export function storeService(
  journal: LoggedStore,
  clock: RestStore['clock'],
  faults?: FaultSource,
): Service<RestStore, User> {
  const { store } = journal
  return {
    name: 'store',
    state: new RestStore(journal, clock, faults),
    faults: storeFaults,
    endpoints,
    authorize(call) {
      const token = tokenOf(call, storeTokenQuery)
      const user = token === undefined ? undefined : store.access.userOf(token)
      if (user === undefined) return errorResponse(unauthorized(call.dialect.docs), 401, call)
      call.user = user
      return undefined
    },
    notFound: () => empty(405),
    methodNotAllowed: () => empty(405),
    failure: () => undefined,
  }
}

export type StoreCall = ServiceRequest<User>

interface Form {
  rows(call: ServiceRequest, store: StoreEngine): readonly Argv[]
  run(call: StoreCall, front: RestStore, encoding: Encoding): RawResponse
}

/** Loads the code of search commands first, if the request needs it. */
function answeredWithSearch(call: StoreCall, front: RestStore, run: Form['run']): RawResponse | Promise<RawResponse> {
  const loading = searchLoading([call.path, call.query, call.body], front.store)
  return loading?.then(() => answered(call, front, run)) ?? answered(call, front, run)
}

/**
 * Runs one form of request and returns its response, or an error in the service's wording. The headers are checked
 * first, then the form of the request.
 */
function answered(call: StoreCall, front: RestStore, run: Form['run']): RawResponse {
  let encoding: Encoding = { form: 'json', strings: plain }
  let answer: RawResponse
  try {
    encoding = encodingOf(call, front.store.options.policy)
    answer = front.store.asOneRequest(call.dialect.docs, () => run(call, front, encoding))
  } catch (error) {
    const refused = error instanceof SearchNotLoaded ? notLoaded(error) : error
    if (!(refused instanceof ReplyError)) throw error
    answer = failed(refused, 400, encoding)
  }
  return withHeaders(answer, call, front.store)
}

export function withHeaders({ status, headers, body }: RawResponse, call: StoreCall, store: StoreEngine): RawResponse {
  // `concat()` creates an array without spare memory. An array that grows by pushing reserves memory for more items,
  // and the traffic log keeps the array.
  const isPlain = status < 300 && call.header('origin') === undefined
  const all = isPlain
    ? headers.concat([allowsCredentials, syncHeader(store)])
    : headers.concat(corsHeaders(call), status < 300 ? [syncHeader(store)] : [])
  return { status, headers: all, body }
}

/**
 * Returns the error for a search command that runs before its code was loaded. The request itself did not contain the
 * search command, for example because a function runs it.
 */
export function notLoaded({ language }: SearchNotLoaded): ReplyError {
  void loadSearch([language])
  return new ReplyError('ERR SEARCH commands are being loaded, try again')
}

// ---- forms ------------------------------------------------------------------------------------------------------

function single(call: StoreCall, front: RestStore, encoding: Encoding): RawResponse {
  let reply: Reply
  try {
    front.checkBody(call)
    reply = front.execute(argvOf(call, front.store.work), call.user, 'request', call)
  } catch (error) {
    if (error instanceof Oversized) return failed(error, error.status, encoding)
    throw error
  }
  return replyResponse(reply, new ResponseBudget(front.store.options.policy, front.store.work), encoding)
}

/** Returns the response to a request of one command. */
export function replyResponse(reply: Reply, room: ResponseBudget, encoding: Encoding): RawResponse {
  const body = room.item(reply, encoding)
  if (room.isFull) return failed(room.refusal(true), 200, encoding)
  return encoding.form === 'resp2' ? binary(body) : jsonText(body)
}

/**
 * Returns the arguments of a request of one command.
 * @param work the work budget, to which the reading is charged if the store runs the command
 */
export function argvOf(call: ServiceRequest, work?: Work): Argv {
  const mayHaveBody = call.method === 'POST' || call.method === 'PUT'
  if (call.path !== '/') return argvOfPath(call.path, call.query, mayHaveBody ? call.body : latin1(''))
  // A GET request for `/` without a body has no command. The body of such a POST request counts as an empty JSON text.
  if (call.body === '' && !mayHaveBody) throw replyError('emptyCommand')
  return argvOfJson(call.body, work)
}

/**
 * Returns the commands of a pipeline or transaction.
 * @param work the work budget, to which the reading is charged if the store runs the commands
 */
export function rowsOf(call: ServiceRequest, store: StoreEngine, work?: Work): readonly Argv[] {
  return rowsOfJson(call.body, maxRows(store), work)
}

function pipeline(call: StoreCall, front: RestStore, encoding: Encoding): RawResponse {
  const { store } = front
  const rows = rowsOf(call, store, store.work)
  const room = new ResponseBudget(store.options.policy, store.work)
  const items = rows.map((argv) => {
    if (room.isFull) return errorIn(room.refusal(false), encoding)
    return rowItem(() => front.execute(argv, call.user, 'pipeline', call), room, encoding)
  })
  return itemsResponse(items, encoding)
}

export function itemsResponse(items: readonly Bytes[], { form }: Encoding): RawResponse {
  return form === 'resp2' ? binary(latin1(items.join(''))) : jsonText(latin1(`[${items.join(',')}]`))
}

/** Runs a transaction. If any row is invalid, nothing runs and the response is the error of that row. [store.md 4] */
function transaction(call: StoreCall, front: RestStore, encoding: Encoding): RawResponse {
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
  const room = new ResponseBudget(store.options.policy, store.work)
  const items = store.waiting.transaction(() =>
    rows.map((argv, at) =>
      rowItem(() => front.execute(argv, call.user, 'transaction', call, sizes[at]!), room, encoding),
    ),
  )
  return itemsResponse(items, encoding)
}

/** Returns the encoded result of one row, if it fits. */
export function rowItem(execute: () => Reply, room: ResponseBudget, encoding: Encoding): Bytes {
  try {
    const reply = execute()
    const item = room.item(reply, encoding)
    return room.isFull ? errorIn(room.refusal(true), encoding) : item
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return errorIn(error, encoding)
  }
}

/** Paths with a special meaning, matched exactly; every other path is a command. [store.md 1.1] */
const forms: Readonly<Record<string, Form>> = {
  '/pipeline': { rows: rowsOf, run: pipeline },
  '/multi-exec': { rows: rowsOf, run: transaction },
}

let segments: ReadonlySet<string> | undefined

/**
 * Returns whether the first segment of a path, in any case, has a meaning for the store: a command, an event stream, or
 * a path such as `/pipeline`.
 * @param segment the decoded segment
 */
export function isStoreSegment(segment: string): boolean {
  segments ??= new Set([
    ...commandTable.names.keys(),
    ...blockingTable.names.keys(),
    ...connectionBound.keys(),
    ...Object.keys(forms).map((path) => path.slice(1).toUpperCase()),
  ])
  return segments.has(segment.toUpperCase())
}

const one: Form = { rows: (call) => [argvOf(call)], run: single }

function formOf({ path }: ServiceRequest): Form {
  return forms[path] ?? one
}

function requestFacts(call: ServiceRequest, { store }: RestStore): FaultFacts {
  return readableFacts(() => commandFacts(formOf(call).rows(call, store), store))
}

function preflightHeaders(call: ServiceRequest): (readonly [string, string])[] {
  const headers = corsHeaders(call)
  headers.push(['access-control-allow-methods', methods.join(', ')])
  const wanted = call.header('access-control-request-headers')
  if (wanted !== undefined) headers.push(['access-control-allow-headers', wanted])
  return headers
}
