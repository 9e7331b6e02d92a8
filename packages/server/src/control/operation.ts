import type * as v from 'valibot'
import { checkedDatabase, onServer } from '../../../../src/kernel/database-name.js'
import type { QueueRegion } from '../../../../src/protocol/address.js'
import type { RawRequest } from '../../../../src/protocol/service.js'
import type { PastInstant } from '../../../../src/sandbox/past.js'
import type { PastStore } from '../../../../src/sandbox/past-sandbox.js'
import type { Sandbox } from '../../../../src/sandbox/sandbox.js'
import type { StoreStatistics } from '../../../../src/stats/statistics.js'
import type { Store } from '../../../../src/store/direct-store.js'
import type { Tool } from './tool.js'

export interface OperationContext {
  readonly tenant: string
  readonly query: URLSearchParams
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>
  readonly call: RawRequest
  /**
   * Serves a sandbox as an additional tenant, and returns the name of the tenant. Without `name`, a free name is used.
   */
  adopt(sandbox: Sandbox, name: string | undefined): string
  /**
   * If the text is a URL of this server, replaces its origin by the origin that the client used. Other texts stay
   * unchanged.
   */
  reached(address: string): string
}

export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below `/_control/{tenant}`; `:name` is a parameter. */
  readonly path: string
  readonly summary: string
  /** Schema of the request body. Without this field, the operation takes no body. */
  readonly body?: v.GenericSchema | undefined
  /**
   * More exact schema of the request body, for the OpenAPI document. Set it if `body` accepts any details because the
   * engine checks them.
   */
  readonly describes?: v.GenericSchema
  /** A valid body, for the documentation and for error messages. */
  readonly example?: unknown
  /** Query parameters with their descriptions. */
  readonly query?: Readonly<Record<string, string>>
  /** Whether the operation works only with a store in this process, and not with a real Redis. */
  readonly storedHere?: true
  /** Content type of a successful response. Default JSON. */
  readonly answers?: 'text/plain' | 'text/html' | 'text/event-stream'
  /** The operation as a tool for agents, if there is one. */
  readonly tool?: Tool
  /**
   * Runs the operation. The function returns a value that is sent as JSON, or a complete response. `undefined` is sent
   * as `{}`.
   */
  run(sandbox: Sandbox, body: unknown, asked: OperationContext): unknown
}

/** An operation on the queue or the workflows of one region. */
export interface RegionalOperation extends Omit<ControlOperation, 'run'> {
  run(region: Pick<Sandbox, 'queue' | 'workflow'>, body: unknown, asked: OperationContext): unknown
}

/** Description of the query parameter `region`. */
export const regionParameter = '`us-east-1` or `eu-central-1`; default: the home region'

/** Adds the query parameter `region` to operations. Without this parameter, an operation uses the home region. */
export function regional(rows: readonly RegionalOperation[]): readonly ControlOperation[] {
  return rows.map((row) => ({
    ...row,
    query: { ...row.query, region: regionParameter },
    run: (sandbox, body, asked) => row.run(regionOf(sandbox, asked.query.get('region')), body, asked),
  }))
}

function regionOf(sandbox: Sandbox, name: string | null): Pick<Sandbox, 'queue' | 'workflow'> {
  if (name === null) return sandbox
  const region = name as QueueRegion
  return { queue: sandbox.queueIn(region), workflow: sandbox.workflowIn(region) }
}

/** One database of the data store of a tenant. */
export interface AddressedDatabase {
  readonly store: Store
  readonly traffic: Sandbox['traffic']
  readonly stats: { readonly store: StoreStatistics }
  asOf(at: PastInstant): { readonly now: number; readonly store: PastStore }
}

/** An operation on one database of the data store. */
export interface DatabaseOperation extends Omit<ControlOperation, 'run'> {
  run(database: AddressedDatabase, body: unknown, asked: OperationContext): unknown
}

/** Description of the query parameter `database`. */
export const databaseParameter = 'name of an added database; default: the first database'

/** Adds the query parameter `database` to operations. Without this parameter, an operation uses the first database. */
export function ofDatabase(rows: readonly DatabaseOperation[]): readonly ControlOperation[] {
  return rows.map((row) => ({
    ...row,
    query: { ...row.query, database: databaseParameter },
    run: (sandbox, body, asked) => row.run(databaseOf(sandbox, asked.query.get('database')), body, asked),
  }))
}

/** @throws RangeError when there is no such database */
function databaseOf(sandbox: Sandbox, given: string | null): AddressedDatabase {
  if (given === null) return sandbox
  const name = checkedDatabase(given, sandbox.options.databases ?? [], onServer)
  const store = sandbox.storeIn(name)
  return {
    store,
    traffic: sandbox.traffic,
    stats: { store: sandbox.stats.storeIn(name) },
    asOf: (at) => {
      const past = sandbox.asOf(at)
      return { now: past.now, store: past.storeIn(name) }
    },
  }
}

interface OrderOf<S extends v.GenericSchema> extends Omit<ControlOperation, 'body' | 'run'> {
  readonly body: S
  run(sandbox: Sandbox, body: v.InferOutput<S>, asked: OperationContext): unknown
}

/** Returns an operation unchanged. Call it so that TypeScript infers the type of the body in `run` from the schema. */
export function order<S extends v.GenericSchema>(row: OrderOf<S>): ControlOperation {
  return row as ControlOperation
}
