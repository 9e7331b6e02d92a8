import { bearerToken, queryToken } from '../http/auth.js'
import { binary, empty, jsonText } from '../http/respond.js'
import type { Answer, Endpoint, Service, ServiceCall } from '../http/service.js'
import { type Bytes, latin1, utf8 } from '../kernel/bytes.js'
import type { Traffic } from '../kernel/traffic.js'
import type { User } from './access.js'
import { base64, json, plain, type StringForm } from './encoding/json.js'
import { resp2, resp2Error } from './encoding/resp2.js'
import { replyError, unauthorized } from './errors.js'
import { type Reply, ReplyError } from './reply.js'
import { type Argv, argvOfJson, argvOfPath, rowsOfJson } from './request.js'
import type { Store } from './store.js'

/** The store behind its REST interface. */
export class StoreFront {
  constructor(
    readonly store: Store,
    readonly traffic: Traffic,
  ) {}

  /** Runs one row and logs it as a consequence of the request. */
  execute(argv: Argv, call: ServiceCall, via: 'request' | 'pipeline' | 'transaction'): Reply {
    const user = this.userOf(call)
    const entry = { type: 'command', argv, user: user.name, via } as const
    try {
      const reply = this.store.execute(argv, user)
      this.traffic.append({ ...entry, reply }, call.cause)
      return reply
    } catch (error) {
      if (error instanceof ReplyError) this.traffic.append({ ...entry, error: error.message }, call.cause)
      throw error
    }
  }

  userOf(call: ServiceCall): User {
    const user = this.store.access.userOf(call.identity)
    if (user === undefined) throw unauthorized(this.store.options.docs)
    return user
  }
}

const methods = ['GET', 'HEAD', 'POST', 'PUT']

const endpoints: readonly Endpoint<StoreFront>[] = [
  {
    method: 'OPTIONS',
    path: '/**',
    auth: 'none',
    summary: 'CORS preflight',
    run: (call) => empty(200, preflightHeaders(call)),
  },
  {
    method: methods,
    path: '/pipeline',
    auth: 'bearer',
    summary: 'Runs rows of commands in order; a failing one is an item of the answer.',
    run: (call, front) => answered(call, front, pipeline),
  },
  {
    method: methods,
    path: '/multi-exec',
    auth: 'bearer',
    summary: 'Runs rows of commands as one transaction, or none of them.',
    run: (call, front) => answered(call, front, transaction),
  },
  {
    method: methods,
    path: '/**',
    auth: 'bearer',
    summary: 'Runs one command, given as path, query and body, or as a JSON array posted to `/`.',
    run: (call, front) => answered(call, front, single),
  },
]

export function storeService(store: Store, traffic: Traffic): Service<StoreFront> {
  return {
    name: 'store',
    state: new StoreFront(store, traffic),
    endpoints,
    authorize(call) {
      const token = queryToken(call, '_token') ?? bearerToken(call)
      if (token === undefined || store.access.userOf(token) === undefined) {
        return errorAnswer(unauthorized(store.options.docs), 401, call)
      }
      call.identity = token
      return undefined
    },
    notFound: () => empty(405),
    methodNotAllowed: () => empty(405),
    failure: () => undefined,
  }
}

type Form = 'json' | 'resp2'

interface Encoding {
  readonly form: Form
  readonly strings: StringForm
}

/** `Service-Response-Format` and `Service-Encoding`. [store.md 1.5] */
function encodingOf(call: ServiceCall): Encoding {
  const form = (call.settings.get('response-format') ?? 'json').toLowerCase()
  const strings = call.settings.get('encoding')?.toLowerCase() === 'base64' ? base64 : plain
  if (form !== 'json' && form !== 'resp2') throw replyError('responseFormat')
  if (form === 'resp2' && strings === base64) throw replyError('base64WithResp2')
  return { form, strings }
}

type Run = (call: ServiceCall, front: StoreFront, encoding: Encoding) => Answer

/** What all command endpoints share: encoding first, errors as the service words them, headers, HEAD without a body. */
function answered(call: ServiceCall, front: StoreFront, run: Run): Answer {
  const answer = attempt(call, front, run)
  const headers = [...answer.headers, ...corsHeaders(call)]
  if (answer.status < 300) headers.push(['service-sync-token', syncToken(front.store)])
  return { status: answer.status, headers, body: call.method === 'HEAD' ? null : answer.body }
}

function attempt(call: ServiceCall, front: StoreFront, run: Run): Answer {
  let encoding: Encoding | undefined
  try {
    encoding = encodingOf(call)
    return run(call, front, encoding)
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    if (encoding?.form === 'resp2' && call.path !== '/multi-exec') return binary(resp2Error(error), 400)
    return jsonText(errorItem(error), 400)
  }
}

const single: Run = (call, front, encoding) => {
  const argv =
    call.path === '/' && !(call.body === '' && call.query !== '')
      ? rootArgv(call)
      : argvOfPath(call.path, call.query, call.body)
  const reply = front.execute(argv, call, 'request')
  return encoding.form === 'resp2' ? binary(resp2(reply)) : jsonText(resultItem(reply, encoding.strings))
}

/** A reading request for `/` without a body has no command; a posted one has an empty JSON text. */
function rootArgv(call: ServiceCall): Argv {
  if (call.body === '' && (call.method === 'GET' || call.method === 'HEAD')) throw replyError('emptyCommand')
  return argvOfJson(call.body)
}

const pipeline: Run = (call, front, encoding) => {
  const items = rowsOfJson(call.body).map((argv) => {
    try {
      const reply = front.execute(argv, call, 'pipeline')
      return encoding.form === 'resp2' ? resp2(reply) : resultItem(reply, encoding.strings)
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      return encoding.form === 'resp2' ? resp2Error(error) : errorItem(error)
    }
  })
  return encoding.form === 'resp2' ? binary(latin1(items.join(''))) : jsonText(latin1(`[${items.join(',')}]`))
}

const transaction: Run = (call, front, encoding) => {
  const rows = rowsOfJson(call.body)
  const user = front.userOf(call)
  for (const argv of rows) front.store.check(argv, user)
  const items = rows.map((argv) => {
    try {
      return resultItem(front.execute(argv, call, 'transaction'), encoding.strings)
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      return errorItem(error)
    }
  })
  return jsonText(latin1(`[${items.join(',')}]`))
}

function resultItem(reply: Reply, strings: StringForm): Bytes {
  return latin1(`{"result":${json(reply, strings)}}`)
}

function errorItem(error: ReplyError): Bytes {
  return utf8(`{"error":${JSON.stringify(error.message)}}`)
}

function errorAnswer(error: ReplyError, status: number, call: ServiceCall): Answer {
  return jsonText(call.method === 'HEAD' ? latin1('') : errorItem(error), status, corsHeaders(call))
}

/** A short counter text, as third parties saw it on the service. [store.md 2.2] */
function syncToken(store: Store): string {
  return store.writes.toString(32)
}

function corsHeaders(call: ServiceCall): [string, string][] {
  const headers: [string, string][] = [['access-control-allow-credentials', 'true']]
  const origin = call.header('origin')
  if (origin !== undefined) {
    headers.push(['access-control-allow-origin', origin], ['access-control-expose-headers', 'service-sync-token'])
  }
  return headers
}

function preflightHeaders(call: ServiceCall): [string, string][] {
  const headers = corsHeaders(call)
  headers.push(['access-control-allow-methods', methods.join(', ')])
  const wanted = call.header('access-control-request-headers')
  if (wanted !== undefined) headers.push(['access-control-allow-headers', wanted])
  return headers
}
