import { HttpError } from '../../../../src/protocol/call.js'
import { QueueRejection } from '../../../../src/queue/settings/queue-rejections.js'

/** Responds to a rejection of the queue with the status that the queue API has for it. */
export function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof QueueRejection ? new HttpError(error.status, error.message) : error
  }
}
