import { type Behind, behind } from '../../kernel/behind.js'
import type { StoreHistory } from './history.js'

/** What stands behind `sandbox.store`: what it was at any time. In a file of its own, for those who come without the engine. */
export const history: Behind<object, Pick<StoreHistory, 'changes'>> = behind('history')
