// The namespace `fault`: a constructor for each kind, in camel case. Durations as text, bodies as values. The result is plain data.

export * from './body-faults.js'
export * from './connection-faults.js'
export * from './credential-faults.js'
export * from './order-faults.js'
export * from './response-faults.js'
export * from './service-faults.js'
export * from './stream-faults.js'
