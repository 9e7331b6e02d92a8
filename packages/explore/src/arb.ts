// The namespace `arb`: each is called as what one draw of it gives.
export { deliveryFaults, deliveryScript, faultRules, outboundFaults } from './delivery/fault-arbitraries.js'
export { command } from './values/arbitraries.js'
export { clockMove, cron, message, schedule } from './values/message-arbitraries.js'
export { storeRequests } from './values/session-arbitraries.js'
