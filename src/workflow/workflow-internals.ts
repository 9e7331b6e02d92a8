import { type Internals, internals } from '../kernel/internals.js'
import type { RunAdvancer } from './advance-run.js'
import type { Workflow } from './direct-workflows.js'
import type { WorkflowEngine } from './workflow-engine.js'

interface WorkflowParts {
  readonly engine: WorkflowEngine
  readonly course: RunAdvancer
}

export const workflowInternals: Internals<Workflow, WorkflowParts> = internals('workflows')

export const workflowsOf = (workflow: Workflow): WorkflowEngine => workflowInternals.of(workflow).engine
