// The entry `stuntdouble/server`.
export type { ClusterOptions } from './cluster/options.js'
export type { Node } from './cluster/tenure.js'
export { type InspectOptions, inspect } from './inspector/inspect.js'
export type { Failure } from './inspector/visit.js'
export type { ServerLimits } from './limits.js'
export type { LoggedRequest } from './request-log.js'
export type { ServerOptions } from './server-options.js'
export { type RunningServer, startServer } from './start-server.js'
