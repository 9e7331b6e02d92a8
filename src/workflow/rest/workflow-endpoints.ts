import type { QueueEndpoint } from '../../queue/rest/reading.js'
import type { WorkflowEngine } from '../workflow-engine.js'
import { logEndpoints } from './logs.js'
import { runDeadLetterEndpoints } from './run-dead-letter-endpoints.js'
import { runningEndpoints } from './running.js'

/** Returns all endpoints of the workflow API. They belong to the service of the queue. [workflow.md 1] */
export function workflowEndpoints(workflows: WorkflowEngine): readonly QueueEndpoint[] {
  return [...runningEndpoints(workflows), ...logEndpoints(workflows), ...runDeadLetterEndpoints(workflows)]
}
