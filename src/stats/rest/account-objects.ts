import { iso } from '../../kernel/instant.js'
import type { QueuePlan, ResolvedPolicy, ResolvedQueueLimits } from '../../policy/policy.js'
import type { SandboxUrls } from '../../protocol/address.js'
import type { SeriesPoint } from '../reports.js'
import type { SearchStatistics, Stats } from '../statistics.js'
import type { StoreReport } from '../store-report.js'

// The objects in the lists of the management API: one table of fields for each schema. [developer-api.md 5 to 7] Where
// a field has neither a policy nor a public rule, its value is the public example.

/** Facts of a sandbox that the objects show. */
export interface AccountFacts {
  /** Virtual time at which the sandbox was created, in milliseconds. */
  readonly createdAt: number
  readonly now: () => number
  readonly addresses: SandboxUrls
  /** Region of the queue. */
  readonly region: string
  readonly plan: QueuePlan
  readonly queueLimits: ResolvedQueueLimits
  readonly policy: Pick<
    ResolvedPolicy,
    | 'maxRequestSize'
    | 'maxRecordSize'
    | 'maxStorageSize'
    | 'eviction'
    | 'dailyRequestLimit'
    | 'monthlyRequestLimit'
    | 'queueBurstLimit'
  >
  readonly tokens: () => AccountTokens
  /** Databases of the data store, in the order of `statistics.databases`. */
  readonly databases: readonly DatabaseFacts[]
}

interface AccountTokens {
  readonly queue: string
  readonly queueReadonly: string
  readonly mgmtUser: string
}

/** Facts of one database that the objects show. */
export interface DatabaseFacts {
  /** Base URL of the database. */
  readonly address: string
  readonly tokens: () => { readonly store: string; readonly storeReadonly: string }
  /** Commands and bytes since the sandbox was created. */
  readonly cost: () => { readonly commands: number; readonly bytesIn: number; readonly bytesOut: number }
}

/** Fields of a schema: each has a value, or a function that returns it. */
type Fields<Subject> = Readonly<Record<string, Plain | ((subject: Subject) => unknown)>>

type Plain = string | number | boolean | readonly string[] | Readonly<Record<string, boolean>>

function made<Subject>(fields: Fields<Subject>, subject: Subject): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, typeof field === 'function' ? field(subject) : field]),
  )
}

/** The account and its statistics. */
export interface StatsState {
  readonly statistics: Stats
  readonly account: AccountFacts
}

const unlimited = -1
/** The highest number of commands, as the service shows it for a database without a limit. */
const allCommands = 2 ** 63
const threeDays = 3 * 86_400_000

function seconds(at: number): number {
  return Math.floor(at / 1000)
}

/** One database of the account. */
interface AccountDatabase {
  readonly id: string
  readonly name: string
  readonly account: AccountFacts
  readonly facts: DatabaseFacts
}

const database: Fields<AccountDatabase> = {
  database_id: ({ id }) => id,
  database_name: ({ name }) => name,
  region: 'global',
  port: 6379,
  creation_time: ({ account }) => seconds(account.createdAt),
  state: 'active',
  endpoint: ({ facts }) => new URL(facts.address).host,
  tls: ({ facts }) => facts.address.startsWith('https:'),
  type: 'payg',
  budget: 0,
  primary_region: 'eu-west-1',
  primary_members: ['eu-west-1'],
  all_members: ['eu-west-1'],
  read_regions: [],
  replicas: 0,
  customer_id: ({ account }) => account.tokens().mgmtUser,
  eviction: ({ account }) => account.policy.eviction !== 'off',
  auto_upgrade: false,
  consistent: false,
  modifying_state: '',
  daily_backup_enabled: false,
  prod_pack_enabled: false,
  last_plan_upgrade_time: 0,
  db_max_clients: 10_000,
  db_max_request_size: ({ account }) => account.policy.maxRequestSize,
  db_max_entry_size: ({ account }) => account.policy.maxRecordSize ?? 104_857_600,
  db_disk_threshold: ({ account }) => account.policy.maxStorageSize ?? 107_374_182_400,
  db_memory_threshold: ({ account }) => account.policy.maxStorageSize ?? 3_221_225_472,
  db_max_commands_per_second: 10_000,
  db_request_limit: ({ account: { policy } }) => policy.monthlyRequestLimit ?? policy.dailyRequestLimit ?? allCommands,
  db_max_loads_per_sec: 1_000_000,
  db_conn_idle_timeout: 21_600_000_000_000,
  db_lua_timeout: 250_000_000,
  db_lua_credits_per_min: 10_000_000_000,
  db_store_max_idle: 900_000_000_000,
  db_resource_size: 'L',
  db_type: 'pebble',
  db_eviction: ({ account }) => account.policy.eviction !== 'off',
  db_acl_enabled: 'true',
  db_acl_default_user_status: 'true',
  prometheus_enabled: 'false',
  securityAddons: {
    ipWhitelisting: false,
    vpcPeering: false,
    privateLink: false,
    tlsMutualAuth: false,
    encryptionAtRest: false,
  },
}

/** The fields that `?credentials=hide` removes. */
const databaseCredentials: Fields<AccountDatabase> = {
  password: ({ facts }) => facts.tokens().store,
  rest_token: ({ facts }) => facts.tokens().store,
  read_only_rest_token: ({ facts }) => facts.tokens().storeReadonly,
}

/** @param index position of the database in the account, 0 for the first */
export function databaseObject(
  { statistics, account }: StatsState,
  index: number,
  credentials: 'show' | 'hide',
): object {
  const facts = account.databases[index]!
  const subject = { ...statistics.databases[index]!, account, facts }
  return made(credentials === 'hide' ? database : { ...database, ...databaseCredentials }, subject)
}

const reservedTypes: Readonly<Record<QueuePlan, string>> = {
  free: '',
  payg: '',
  'fixed-1m': 'qstash_fixed_1m',
  'fixed-10m': 'qstash_fixed_10m',
}

const queueUser: Fields<StatsState> = {
  customer_id: ({ account }) => account.tokens().mgmtUser,
  created_by: ({ account }) => account.tokens().mgmtUser,
  id: ({ statistics }) => statistics.user.uuid,
  token: ({ account }) => account.tokens().queue,
  read_only_token: ({ account }) => account.tokens().queueReadonly,
  active: true,
  state: 'active',
  type: ({ account }) => (account.plan === 'free' ? 'free' : 'paid'),
  region: ({ account }) => account.region,
  reserved_type: ({ account }) => reservedTypes[account.plan],
  reserved_price: 0,
  max_message_size: ({ account }) => account.queueLimits.maxMessageSize,
  max_requests_per_day: ({ account }) => account.queueLimits.messagesPerDay ?? unlimited,
  max_requests_per_day_hard: ({ account }) => account.queueLimits.messagesPerDay ?? unlimited,
  max_requests_per_second: ({ account }) => account.policy.queueBurstLimit ?? 100,
  max_endpoints_per_topic: ({ account }) => account.queueLimits.endpointsPerGroup,
  max_topics: ({ account }) => account.queueLimits.urlGroups,
  max_schedules: ({ account }) => account.queueLimits.schedules,
  max_queues: ({ account }) => account.queueLimits.queues,
  max_dlq_size: 1_000_000,
  max_dlq_retention_time_milis: ({ account }) => account.queueLimits.dlqRetention,
  max_retries: ({ account }) => account.queueLimits.maxRetries,
  max_events_size: 10_000,
  max_delay: ({ account: { queueLimits } }) =>
    queueLimits.maxDelay === undefined ? unlimited : seconds(queueLimits.maxDelay),
  max_parallelism: ({ account }) => account.queueLimits.queueParallelism,
  max_global_parallelism: ({ account }) => account.queueLimits.globalParallelism,
  max_bandwidth_per_second: 1_048_576,
  timeout: ({ account }) => seconds(account.queueLimits.maxTimeout),
  prod_pack_enabled: false,
  prometheus_enabled: 'false',
  creation_time: ({ account }) => seconds(account.createdAt),
  deletion_time: 0,
  last_plan_upgrade_time: 0,
  budget: 0,
}

export function queueUserObject(state: StatsState): object {
  return made(queueUser, state)
}

/** An index of one of the two products that the sandbox does not imitate. */
interface Index {
  readonly id: string
  readonly account: AccountFacts
  readonly statistics: SearchStatistics
}

/** The fields that the schemas of both kinds of indexes have. */
const anyIndex: Fields<Index> = {
  customer_id: ({ account }) => account.tokens().mgmtUser,
  id: ({ id }) => id,
  name: ({ id }) => id,
  type: 'payg',
  region: 'eu-west-1',
  max_vector_count: unlimited,
  max_daily_updates: unlimited,
  max_daily_queries: unlimited,
  max_monthly_bandwidth: unlimited,
  max_writes_per_second: 1000,
  max_query_per_second: 1000,
  max_reads_per_request: 1000,
  max_writes_per_request: 1000,
  creation_time: ({ account }) => seconds(account.createdAt),
  throughput_vector: ({ statistics }): SeriesPoint[] => {
    const { query_throughput: queries, update_throughput: updates } = statistics.report()
    return queries.map(({ x, y }, index) => ({ x, y: y + (updates[index]?.y ?? 0) }))
  },
}

const vectorIndex: Fields<Index> = {
  ...anyIndex,
  endpoint: 'vector.test',
  token: 'vector-token',
  read_only_token: 'vector-read-only-token',
  similarity_function: 'COSINE',
  dimension_count: 1024,
  embedding_model: 'BGE_M3',
  sparse_embedding_model: '',
  max_total_metadata_size: unlimited,
  reserved_price: 0,
  index_type: 'DENSE',
}

const searchIndex: Fields<Index> = {
  ...anyIndex,
  endpoint: 'search.test',
  token: 'search-token',
  read_only_token: 'search-read-only-token',
  vercel_email: '',
  max_monthly_reranks: unlimited,
  input_enrichment_enabled: true,
}

export function vectorIndexObject({ statistics, account }: StatsState, id: string): object {
  return made(vectorIndex, { id, account, statistics: statistics.vector(id) })
}

export function searchIndexObject({ statistics, account }: StatsState, id: string): object {
  return made(searchIndex, { id, account, statistics: statistics.search(id) })
}

const startMetrics: Fields<AccountDatabase & { readonly report: StoreReport }> = {
  uptime_seconds: ({ account }) => seconds(account.now() - account.createdAt),
  expires_at: ({ account }) => iso(account.createdAt + threeDays),
  console_url: ({ account, id }) => `${account.addresses.mgmt}/redis/${id}`,
  commands_total: ({ facts }) => facts.cost().commands,
  commands_per_sec_1m: ({ report }) => report.throughput.at(-1)!.y,
  keys: ({ report }) => report.keyspace.at(-1)!.y,
  memory_bytes: ({ report }) => report.current_storage,
  bytes_in: ({ facts }) => facts.cost().bytesIn,
  bytes_out: ({ facts }) => facts.cost().bytesOut,
}

/** @param index position of the database in the account, 0 for the first */
export function startMetricsObject({ statistics, account }: StatsState, index: number): object {
  const facts = account.databases[index]!
  const report = statistics.storeAt(index).report()
  return made(startMetrics, { ...statistics.databases[index]!, account, facts, report })
}
