import { toJsonSchema } from '@valibot/to-json-schema'
import { traceSchema } from '../../src/report/trace-schema.js'

/** Returns the text of trace.schema.json. */
export function traceSchemaText(): string {
  return `${JSON.stringify(toJsonSchema(traceSchema, { typeMode: 'input' }), null, 2)}\n`
}
