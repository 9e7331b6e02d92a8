// Comparing the double with the real service: what the command `drift` is made of.
export { type Endpoint, Listener } from './endpoint.js'
export { type Plan, planOf } from './plan.js'
export { RealSide } from './real-side.js'
export { recordText } from './record.js'
export { exitCode, reportText } from './report.js'
export { drift, type Outcome } from './run.js'
export { queueTokenVariable, readOnlyTokenVariable, tokenVariable } from './settings.js'
