import type { DeliveryFault } from '../../faults/fault.js'
import type { networkErrors } from '../../faults/network-errors.js'

export type { HeaderRecord } from '../../faults/fault.js'
export { networkErrors } from '../../faults/network-errors.js'

/** Script step for one delivery. It is plain data, so that scripts can be stored, sent and shrunk. */
export type Step = DeliveryFault

/** The name of a network error, such as `reset`. */
export type NetworkError = keyof typeof networkErrors
