// The entry point `stuntdouble/server`.
export type { ClusterOptions } from './cluster/cluster-options.js'
export type { ClusterNode } from './cluster/tenant-lease.js'
export { type InspectOptions, inspect } from './inspector/inspect.js'
export type { FailedAssertion } from './inspector/visit.js'
export type { RequestLogEntry } from './request-log.js'
export type { ServerLimits } from './server-limits.js'
export type { ServerOptions } from './server-options.js'
export { type StuntdoubleServer, startServer } from './start-server.js'
