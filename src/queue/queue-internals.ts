import { type Internals, internals } from '../kernel/internals.js'
import type { QueueEngine } from './queue-engine.js'

export const queueInternals: Internals<object, QueueEngine> = internals('queue')

export const engineOf: (queue: object) => QueueEngine = queueInternals.of
