import { HttpError } from '../../../../src/protocol/call.js'
import { QueueRejection } from '../../../../src/queue/settings/queue-rejections.js'

/**
 * Runs an operation on the queue. If the queue rejects the operation, the response has the status that the queue's API
 * would return.
 */
export function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof QueueRejection ? new HttpError(error.status, error.message) : error
  }
}
