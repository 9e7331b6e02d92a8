import { type Internals, internals } from '../kernel/internals.js'
import type { RunAdvancer } from './advance-run.js'
import type { WorkflowEngine } from './workflow-engine.js'

interface WorkflowParts {
  readonly engine: WorkflowEngine
  readonly course: RunAdvancer
}

export const workflowInternals: Internals<object, WorkflowParts> = internals('workflows')

export const workflowsOf = (workflow: object): WorkflowEngine => workflowInternals.of(workflow).engine
