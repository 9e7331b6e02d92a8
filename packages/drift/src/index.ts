// Comparing the double with the real service: what the command `drift` is made of.
export { type DriftDestination, LocalDestination } from './endpoint.js'
export { type DriftPlan, planOf } from './plan.js'
export { RealSide } from './real-side.js'
export { recordText } from './record.js'
export { exitCode, reportText } from './report.js'
export { type DriftReport, drift } from './run.js'
export { queueTokenVariable, readOnlyTokenVariable, tokenVariable } from './settings.js'
