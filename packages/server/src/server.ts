// The entry `stuntdouble/server`.
export type { ClusterOptions } from './cluster/cluster-options.js'
export type { Node } from './cluster/tenant-lease.js'
export { type InspectOptions, inspect } from './inspector/inspect.js'
export type { Failure } from './inspector/visit.js'
export type { LoggedRequest } from './request-log.js'
export type { ServerLimits } from './server-limits.js'
export type { ServerOptions } from './server-options.js'
export { type RunningServer, startServer } from './start-server.js'
