import { basicCredentials, HttpError, json } from '../../protocol/call.js'
import type { Endpoint, RawResponse, Service, ServiceRequest } from '../../protocol/service.js'
import { defaultPeriod, isPeriod, type StatsPeriod } from '../periods.js'
import type { Stats } from '../statistics.js'

export interface StatsServiceOptions {
  /**
   * User name and password for Basic authentication. They are the email address and the key of an account of the
   * management API.
   */
  readonly user: string
  readonly key: string
}

/**
 * Error texts of the statistics API. This package chose all of them, because the texts of the service are not public.
 * [statistics.md 2]
 */
const refusals = {
  badPeriod: (): HttpError => new HttpError(400, 'invalid period'),
  unauthorized: (): HttpError => new HttpError(401, 'unauthorized', [['www-authenticate', 'Basic']]),
  forbidden: (): HttpError => new HttpError(403, 'forbidden'),
  notFound: (): HttpError => new HttpError(404, 'not found'),
  wrongMethod: (allowed: readonly string[]): HttpError =>
    new HttpError(405, 'method not allowed', [['allow', allowed.join(', ')]]),
  notAcceptable: (): HttpError => new HttpError(406, 'not acceptable'),
} as const

const endpoints: readonly Endpoint<Stats>[] = [
  {
    method: 'GET',
    path: '/v2/queue/stats/:id',
    auth: 'basic',
    summary: 'Statistics of the queue of one user: usage from the traffic and the script, with overridden fields.',
    run: (call, statistics) => queueUsage(call, statistics, call.params.id!),
  },
  {
    method: 'GET',
    path: '/v2/queue/stats',
    auth: 'basic',
    summary: 'Statistics of the queue of the account, which has one user.',
    run: (call, statistics) => {
      const { id, uuid } = statistics.user
      return queueUsage(call, statistics, statistics.isForbidden(uuid) ? uuid : id)
    },
  },
  {
    method: 'GET',
    path: '/v2/search/:id/stats',
    auth: 'basic',
    summary: 'Statistics of one search index, from its script and overridden fields.',
    run: (call, statistics) => {
      const period = readPeriod(call)
      const id = call.params.id!
      if (statistics.isForbidden(id)) throw refusals.forbidden()
      if (!statistics.knowsIndex(id)) throw refusals.notFound()
      return json(statistics.search(id).report(period))
    },
  },
]

export function statsService(statistics: Stats, options: StatsServiceOptions): Service<Stats> {
  return {
    name: 'stats',
    state: statistics,
    endpoints,
    authorize(call) {
      const given = basicCredentials(call)
      if (given?.user !== options.user || given.password !== options.key) return refuse(refusals.unauthorized())
      call.user = given.user
      return undefined
    },
    notFound: () => refuse(refusals.notFound()),
    methodNotAllowed: (_, allowed) => refuse(refusals.wrongMethod(allowed)),
    failure: (error) => (error instanceof HttpError ? refuse(error) : undefined),
    faults: {
      answer: (fault) =>
        refuse(fault.kind === 'status' ? new HttpError(fault.status, fault.text) : new HttpError(429, fault.kind)),
    },
  }
}

/**
 * Returns an error response. Clients read the field `error`. If it is absent, they read `message`. The field `code` is
 * the status as a string. [statistics.md 2]
 */
function refuse(error: HttpError): RawResponse {
  const { message, status } = error
  return json({ error: message, code: String(status), message }, status, error.headers)
}

function queueUsage(call: ServiceRequest, statistics: Stats, id: string): RawResponse {
  const period = readPeriod(call)
  if (statistics.isForbidden(id)) throw refusals.forbidden()
  if (!statistics.knowsUser(id)) throw refusals.notFound()
  return json(statistics.queue.report(period))
}

function readPeriod(call: ServiceRequest): StatsPeriod {
  if (!acceptsJson(call.header('accept'))) throw refusals.notAcceptable()
  const period = new URLSearchParams(call.query).get('period') ?? defaultPeriod
  if (!isPeriod(period)) throw refusals.badPeriod()
  return period
}

const jsonRanges = ['application/json', 'application/*', '*/*']

/**
 * Returns whether a client accepts JSON, from its `Accept` header. If several media ranges match, the most specific one
 * decides.
 */
function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true
  const quality = new Map<string, number>()
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    quality.set(type!, q === undefined ? 1 : Number(q.slice(2)))
  }
  const deciding = jsonRanges.find((range) => quality.has(range))
  return deciding !== undefined && quality.get(deciding)! > 0
}
