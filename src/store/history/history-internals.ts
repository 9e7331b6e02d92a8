import { type Internals, internals } from '../../kernel/internals.js'
import type { StoreHistory } from './store-history.js'

/** History behind `sandbox.store`. A separate file, so that clients can import it without the engine. */
export const historyInternals: Internals<object, Pick<StoreHistory, 'changes'>> = internals('history')
