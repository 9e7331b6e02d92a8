// The namespace `fault`: one constructor per kind of fault, whose name is the kind in camel case.
// Constructors take durations and return plain data.

export * from './body-faults.js'
export * from './connection-faults.js'
export * from './credential-faults.js'
export * from './order-faults.js'
export * from './response-faults.js'
export * from './service-faults.js'
export * from './stream-faults.js'
