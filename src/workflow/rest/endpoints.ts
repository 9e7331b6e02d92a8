import type { QueueEndpoint } from '../../queue/rest/reading.js'
import type { WorkflowEngine } from '../workflows.js'
import { runDeadLetterEndpoints } from './dead-letters.js'
import { logEndpoints } from './logs.js'
import { runningEndpoints } from './running.js'

/** Every endpoint of the workflow API; the queue's service serves them. [workflow.md 1] */
export function workflowEndpoints(workflows: WorkflowEngine): readonly QueueEndpoint[] {
  return [...runningEndpoints(workflows), ...logEndpoints(workflows), ...runDeadLetterEndpoints(workflows)]
}
