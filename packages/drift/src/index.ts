// The parts of the command `drift`, which compares the double with the real service.

export { type DriftPlan, planOf } from './drift-plan.js'
export { exitCode, reportText } from './drift-report.js'
export { type DriftReport, drift } from './drift-run.js'
export { queueTokenVariable, readOnlyTokenVariable, tokenVariable } from './drift-settings.js'
export { type DriftDestination, LocalDestination } from './endpoint.js'
export { RealSide } from './real-side.js'
export { recordText } from './record.js'
