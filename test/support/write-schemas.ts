// A part of the build: the JSON Schemas of scenario files and of traces, into dist.
import { writeFileSync } from 'node:fs'
import { scenarioSchemaText } from './scenario-files.js'
import { traceSchemaText } from './trace-schema.js'

writeFileSync(new URL('../../dist/scenario.schema.json', import.meta.url), scenarioSchemaText())
writeFileSync(new URL('../../dist/trace.schema.json', import.meta.url), traceSchemaText())
