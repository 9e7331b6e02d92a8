// What a test file of Jest pays for a module in one of both formats.
const { writeFileSync } = require('node:fs')

test('loads the module', async () => {
  const { FORMAT, IMPORTED, SPENT } = process.env
  const start = process.cpuUsage()
  if (FORMAT === 'module') await import(IMPORTED)
  else require(IMPORTED)
  const { user, system } = process.cpuUsage(start)
  writeFileSync(SPENT, String(user + system))
})
