import bodies from './body-faults.js'
import connections from './connection-faults.js'
import credentials from './credential-faults.js'
import order from './order-faults.js'
import answers from './response-faults.js'
import services from './service-faults.js'
import streams from './stream-faults.js'

// The families of faults, in the order in which pages and errors list them. The table of a family is its default
// export, and its named exports are public.

export const faultGroups: readonly [
  typeof answers,
  typeof connections,
  typeof bodies,
  typeof order,
  typeof credentials,
  typeof streams,
  typeof services,
] = [answers, connections, bodies, order, credentials, streams, services]
