// Writes the generated pages of docs/reference: `npm run docs`.
import { writeFileSync } from 'node:fs'
import { queueEndpoints } from '../../src/queue/endpoints.js'
import { queueReference } from '../../src/queue/reference.js'
import { commandReference } from '../../src/store/reference.js'

writeFileSync(new URL('../../docs/reference/commands.md', import.meta.url), commandReference())
writeFileSync(new URL('../../docs/reference/queue.md', import.meta.url), queueReference(queueEndpoints))
