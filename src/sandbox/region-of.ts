import { InputRecorder } from '../kernel/input-recorder.js'
import type { Service } from '../protocol/service.js'
import { Queue } from '../queue/direct-queue.js'
import { QueueEngine } from '../queue/queue-engine.js'
import { queueService } from '../queue/rest/queue-endpoints.js'
import { Workflow } from '../workflow/direct-workflows.js'
import { workflowEndpoints } from '../workflow/rest/workflow-endpoints.js'
import { WorkflowEngine } from '../workflow/workflow-engine.js'
import type { Base, CorePlan, Outside } from './core-plan.js'
import { queueDialectsOf } from './queue-dialects.js'
import type { Region, RegionPlan } from './regions.js'
import { signatureWindowOf } from './sandbox-options.js'

/** Parts of the core that both regions use. */
export interface RegionBase extends Base, Outside {
  readonly story: (runId: string) => string
}

/** Creates the queue and the workflows of a region. */
export function regionOf(
  { name, stream, traffic, read, keys }: RegionPlan,
  { options, dialect, policy, tokens }: CorePlan,
  base: RegionBase,
): Region {
  const { clock, random, destinations, faults, draws, story } = base
  const engine = new QueueEngine({
    clock,
    random: random.fork(`queue${stream}`),
    traffic,
    policy,
    words: queueDialectsOf(dialect),
    destinations,
    keys,
    keyDraws: stream === '' ? draws : draws?.fork(stream),
    signing: { window: signatureWindowOf(options) },
    faults,
    region: name,
  })
  const workflows = new WorkflowEngine({ queue: engine, clock, random: random.fork(`workflow${stream}`), traffic })
  const service = queueService(engine, {
    token: tokens.queue,
    readOnlyToken: tokens.queueReadonly,
    more: workflowEndpoints(workflows),
  }) as Service
  const isHome = stream === ''
  const queue = new Queue(engine, read, new InputRecorder(base, isHome ? 'queue' : ['queueIn', name]))
  const workflow = new Workflow(
    workflows,
    { clock, story },
    new InputRecorder(base, isHome ? 'workflow' : ['workflowIn', name]),
  )
  return { name, engine, queue, workflow, service }
}
