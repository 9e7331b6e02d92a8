import { type Internals, internals } from '../../kernel/internals.js'
import type { StoreHistory } from './store-history.js'

/** What stands behind `sandbox.store`: what it was at any time. In a file of its own, for those who come without the engine. */
export const historyInternals: Internals<object, Pick<StoreHistory, 'changes'>> = internals('history')
