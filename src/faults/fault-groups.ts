import bodies from './body-faults.js'
import connections from './connection-faults.js'
import credentials from './credential-faults.js'
import order from './order-faults.js'
import answers from './response-faults.js'
import services from './service-faults.js'
import streams from './stream-faults.js'

// The groups of faults, in the order of the reference page and of error messages.
// The default export of a group's module is its table of definitions; the named exports are its public constructors.

export const faultGroups: readonly [
  typeof answers,
  typeof connections,
  typeof bodies,
  typeof order,
  typeof credentials,
  typeof streams,
  typeof services,
] = [answers, connections, bodies, order, credentials, streams, services]
