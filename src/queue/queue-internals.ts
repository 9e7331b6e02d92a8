import { type Internals, internals } from '../kernel/internals.js'
import type { Queue } from './direct-queue.js'
import type { QueueEngine } from './queue-engine.js'

export const queueInternals: Internals<Queue, QueueEngine> = internals('queue')

export const engineOf: (queue: Queue) => QueueEngine = queueInternals.of
