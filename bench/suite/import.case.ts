// What a test file of Vitest pays for a module. The runner itself is loaded before.
import { writeFileSync } from 'node:fs'
import { test } from 'vitest'

const { IMPORTED, SPENT } = process.env
const start = process.cpuUsage()
await import(IMPORTED!)
const { user, system } = process.cpuUsage(start)
writeFileSync(SPENT!, String(user + system))

test('loads the module', () => undefined)
