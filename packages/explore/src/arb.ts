// The namespace `arb`: arbitraries, each named after the value that it generates.
export { deliveryFaults, deliveryScript, faultRules, outboundFaults } from './delivery/fault-arbitraries.js'
export { command } from './values/arbitraries.js'
export { clockMove, cron, message, schedule } from './values/message-arbitraries.js'
export { storeRequests } from './values/session-arbitraries.js'
