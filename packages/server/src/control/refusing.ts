import { HttpError } from '../../../../src/protocol/call.js'
import { QueueRejection } from '../../../../src/queue/settings/queue-rejections.js'

/** What the queue refuses keeps the status that its own API would give. */
export function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof QueueRejection ? new HttpError(error.status, error.message) : error
  }
}
