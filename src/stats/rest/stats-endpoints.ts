import { basicCredentials, HttpError, json } from '../../protocol/call.js'
import type { Endpoint, RawResponse, Service, ServiceRequest } from '../../protocol/service.js'
import { defaultPeriod, isPeriod, type StatsPeriod } from '../periods.js'
import { type IndexSums, indexSums } from '../reports.js'
import type { SearchStatistics, Stats } from '../statistics.js'
import {
  type AccountFacts,
  databaseObject,
  queueUserObject,
  type StatsState,
  searchIndexObject,
  startMetricsObject,
  vectorIndexObject,
} from './account-objects.js'

export interface StatsServiceOptions {
  /**
   * User name and password for Basic authentication. They are the email address and the key of an account of the
   * management API.
   */
  readonly user: string
  readonly key: string
  /** Facts for the lists of the account. */
  readonly account?: AccountFacts
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

const endpoints: readonly Endpoint<StatsState>[] = [
  {
    method: 'GET',
    path: '/v2/redis/databases',
    auth: 'basic',
    summary: 'Lists the databases of the account: those of this sandbox.',
    run: (call, state) =>
      listed(
        call,
        state.statistics.databases.map((_, index) => databaseObject(state, index, 'hide')),
      ),
  },
  {
    method: 'GET',
    path: '/v2/redis/database/:id',
    auth: 'basic',
    summary: 'Returns one database. `?credentials=hide` omits its password and tokens.',
    run: (call, state) =>
      found(call, state, isDatabase, (id) => {
        const credentials = new URLSearchParams(call.query).get('credentials') === 'hide' ? 'hide' : 'show'
        return databaseObject(state, databaseIndex(state, id), credentials)
      }),
  },
  {
    method: 'GET',
    path: '/v2/redis/stats/:id',
    auth: 'basic',
    summary: 'Statistics of one database: usage from the traffic and the script, with overridden fields.',
    run: (call, state) =>
      found(call, state, isDatabase, (id) => state.statistics.storeAt(databaseIndex(state, id)).report()),
  },
  {
    method: 'GET',
    path: '/v2/redis/list-backup/:id',
    auth: 'basic',
    summary: 'Lists the backups of one database: always none.',
    run: (call, state) => found(call, state, isDatabase, () => []),
  },
  {
    method: 'GET',
    path: '/v2/queue/users',
    auth: 'basic',
    summary: 'Lists the users of the queue: the one of this sandbox.',
    run: (call, state) => listed(call, [queueUserObject(state)]),
  },
  {
    method: 'GET',
    path: '/v2/queue/user/:id',
    auth: 'basic',
    summary: 'Returns one user of the queue, with the limits of the plan.',
    run: (call, state) => found(call, state, isUser, () => queueUserObject(state)),
  },
  {
    method: 'GET',
    path: '/v2/queue/ipv4',
    auth: 'none',
    summary: 'Lists the networks from which the queue sends its deliveries.',
    run: (call) => listed(call, queueNetworks),
  },
  {
    method: 'GET',
    path: '/v2/queue/stats/:id',
    auth: 'basic',
    summary: 'Statistics of the queue of one user: usage from the traffic and the script, with overridden fields.',
    run: (call, state) => queueUsage(call, state, call.params.id!),
  },
  {
    method: 'GET',
    path: '/v2/queue/stats',
    auth: 'basic',
    summary: 'Statistics of the queue of the account, which has one user.',
    run: (call, state) => {
      const { isForbidden, user } = state.statistics
      return queueUsage(call, state, isForbidden(user.uuid) ? user.uuid : user.id)
    },
  },
  {
    method: 'GET',
    path: '/v2/vector/index',
    auth: 'basic',
    summary: 'Lists the vector indexes that have a script or overridden fields.',
    run: (call, state) =>
      listed(
        call,
        state.statistics.vectorIndexes.map((id) => vectorIndexObject(state, id)),
      ),
  },
  {
    method: 'GET',
    path: '/v2/vector/index/stats',
    auth: 'basic',
    summary: 'Sums over all vector indexes.',
    run: (call, { statistics }) => listed(call, sumsOf(statistics.vectorIndexes, statistics.vector)),
  },
  {
    method: 'GET',
    path: '/v2/vector/index/:id',
    auth: 'basic',
    summary: 'Returns one vector index.',
    run: (call, state) => found(call, state, isVectorIndex, (id) => vectorIndexObject(state, id)),
  },
  {
    method: 'GET',
    path: '/v2/vector/index/:id/stats',
    auth: 'basic',
    summary: 'Statistics of one vector index, from its script and overridden fields.',
    run: (call, state) => {
      const period = readPeriod(call)
      return found(call, state, isVectorIndex, (id) => state.statistics.vector(id).report(period))
    },
  },
  {
    method: 'GET',
    path: '/v2/search',
    auth: 'basic',
    summary: 'Lists the search indexes that have a script or overridden fields.',
    run: (call, state) =>
      listed(
        call,
        state.statistics.searchIndexes.map((id) => searchIndexObject(state, id)),
      ),
  },
  {
    method: 'GET',
    path: '/v2/search/stats',
    auth: 'basic',
    summary: 'Sums over all search indexes.',
    run: (call, { statistics }) => listed(call, sumsOf(statistics.searchIndexes, statistics.search)),
  },
  {
    method: 'GET',
    path: '/v2/search/:id',
    auth: 'basic',
    summary: 'Returns one search index.',
    run: (call, state) => found(call, state, isSearchIndex, (id) => searchIndexObject(state, id)),
  },
  {
    method: 'GET',
    path: '/v2/search/:id/stats',
    auth: 'basic',
    summary: 'Statistics of one search index, from its script and overridden fields.',
    run: (call, state) => {
      const period = readPeriod(call)
      return found(call, state, isSearchIndex, (id) => state.statistics.search(id).report(period))
    },
  },
  {
    method: 'GET',
    path: '/v2/teams',
    auth: 'basic',
    summary: 'Lists the teams of the account: always none.',
    run: (call) => listed(call, []),
  },
  {
    method: 'GET',
    path: '/v2/teams/:id',
    auth: 'basic',
    summary: 'Lists the members of a team. No team exists, so the response is always 404.',
    run: (call, state) =>
      found(
        call,
        state,
        () => false,
        () => [],
      ),
  },
  {
    method: 'GET',
    path: '/start-redis/metrics/:id',
    auth: 'none',
    summary: 'Metrics of a database that was created without an account.',
    run: (call, state) => {
      const index = databaseIndex(state, call.params.id!)
      return index === -1 ? json('not found', 404) : json(startMetricsObject(state, index))
    },
  },
]

/**
 * Paths of the operations that change something, up to their third segment. The sandbox has none of them, so they are
 * rejected like other methods of the paths above. [developer-api.md 1]
 */
const changes: ReadonlySet<string> = new Set(
  [
    ...['database', 'rename', 'reset-password', 'enable-tls', 'enable-eviction', 'disable-eviction'],
    ...['enable-autoupgrade', 'disable-autoupgrade', 'change-plan', 'update-budget', 'update-regions', 'move-to-team'],
    ...['create-backup', 'delete-backup', 'restore-backup', 'enable-dailybackup', 'disable-dailybackup'],
  ]
    .map((name) => `redis/${name}`)
    .concat(
      ['rotate-token', 'set-plan', 'move-to-team', 'update-budget', 'enable-prodpack', 'disable-prodpack'].map(
        (name) => `queue/${name}`,
      ),
      ['vector/index', 'teams/member'],
    ),
)

function isChange({ method, path }: ServiceRequest): boolean {
  if (method === 'GET' || method === 'HEAD') return false
  const [, version, family = '', operation = ''] = path.split('/')
  return version === 'v2' && (changes.has(`${family}/${operation}`) || family === 'search' || family === 'team')
}

/** Public example of a network of the queue. [developer-api.md 1] */
const queueNetworks: readonly string[] = ['3.125.136.186/32']

export function statsService(statistics: Stats, options: StatsServiceOptions): Service<StatsState> {
  return {
    name: 'stats',
    state: new AccountState(statistics, options.account),
    endpoints,
    authorize(call) {
      const given = basicCredentials(call)
      if (given?.user !== options.user || given.password !== options.key) return refuse(refusals.unauthorized())
      call.user = given.user
      return undefined
    },
    notFound: (call) => refuse(isChange(call) ? refusals.wrongMethod([]) : refusals.notFound()),
    methodNotAllowed: (_, allowed) => refuse(refusals.wrongMethod(allowed)),
    failure: (error) => (error instanceof HttpError ? refuse(error) : undefined),
    faults: {
      answer: (fault) =>
        refuse(fault.kind === 'status' ? new HttpError(fault.status, fault.text) : new HttpError(429, fault.kind)),
    },
  }
}

class AccountState implements StatsState {
  readonly statistics: Stats
  readonly #account: AccountFacts | undefined

  constructor(statistics: Stats, account: AccountFacts | undefined) {
    this.statistics = statistics
    this.#account = account
  }

  get account(): AccountFacts {
    if (this.#account !== undefined) return this.#account
    throw new Error('statsService(): this service has no account. Pass the option account.')
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

type Knows = (state: StatsState, id: string) => boolean

/** Returns the position of the database with this ID in the account, or -1. */
function databaseIndex({ statistics }: StatsState, id: string): number {
  return statistics.databases.findIndex((database) => database.id === id.toLowerCase())
}

const isDatabase: Knows = (state, id) => databaseIndex(state, id) !== -1
const isUser: Knows = ({ statistics }, id) => statistics.knowsUser(id)
const isSearchIndex: Knows = ({ statistics }, id) => statistics.knowsIndex(id)
const isVectorIndex: Knows = ({ statistics }, id) => statistics.knowsVectorIndex(id)

function listed(call: ServiceRequest, answer: object): RawResponse {
  checkAccept(call)
  return json(answer)
}

/** Responds with what belongs to the ID in the path, if the account owns it and it exists. */
function found(call: ServiceRequest, state: StatsState, knows: Knows, answer: (id: string) => object): RawResponse {
  checkAccept(call)
  const id = call.params.id!
  if (state.statistics.isForbidden(id)) throw refusals.forbidden()
  if (!knows(state, id)) throw refusals.notFound()
  return json(answer(id))
}

function sumsOf(ids: readonly string[], at: (id: string) => SearchStatistics): IndexSums {
  return indexSums(ids.map((id) => at(id).report()))
}

function queueUsage(call: ServiceRequest, { statistics }: StatsState, id: string): RawResponse {
  const period = readPeriod(call)
  if (statistics.isForbidden(id)) throw refusals.forbidden()
  if (!statistics.knowsUser(id)) throw refusals.notFound()
  return json(statistics.queue.report(period))
}

function readPeriod(call: ServiceRequest): StatsPeriod {
  checkAccept(call)
  const period = new URLSearchParams(call.query).get('period') ?? defaultPeriod
  if (!isPeriod(period)) throw refusals.badPeriod()
  return period
}

function checkAccept(call: ServiceRequest): void {
  if (!acceptsJson(call.header('accept'))) throw refusals.notAcceptable()
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
