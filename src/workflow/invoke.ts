import * as v from 'valibot'
import { type Bytes, text } from '../kernel/bytes.js'
import { refusals } from '../queue/settings/queue-rejections.js'
import { checkedStep, type StepBody } from './step.js'

/** Body of the request with which a step invokes another run and asks for its result. [workflow.md 9] */
export interface InvokeBody {
  /** Payload of the invoked run. Absent if there is none. */
  readonly body?: string | undefined
  /** Headers of the publish with which the result of the step is delivered later. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  readonly workflowRunId: string
  readonly workflowRunCreatedAt: number
  readonly workflowUrl: string
  readonly step: StepBody
}

export const headerArrays: v.GenericSchema<unknown, Record<string, string[]>> = v.pipe(
  v.record(v.string(), v.union([v.string(), v.array(v.string())])),
  v.transform((given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name, [value].flat()]))),
)

export const stepSchema: v.GenericSchema<unknown, StepBody> = v.pipe(
  v.custom<object>((given) => checkedStep(given) !== undefined, 'Expected a step'),
  v.transform((given) => checkedStep(given)!),
)

const schema = v.object({
  body: v.optional(v.string()),
  headers: v.nullish(headerArrays, {}),
  workflowRunId: v.string(),
  workflowRunCreatedAt: v.nullish(v.number(), 0),
  workflowUrl: v.string(),
  step: stepSchema,
})

/** Parses the body of an invocation. @throws Refusal 400 */
export function readInvoke(body: Bytes): InvokeBody {
  let given: unknown
  try {
    given = JSON.parse(text(body))
  } catch {
    throw refusals.invalid('body', 'it is not JSON')
  }
  const result = v.safeParse(schema, given)
  if (result.success) return result.output
  const [issue] = result.issues
  throw refusals.invalid(v.getDotPath(issue) ?? 'body', issue.message)
}
