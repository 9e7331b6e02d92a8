import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'

// A script starts the server with npx in the background and ends it by its job or its process: npx, a shell and node are
// three processes, and a signal reaches the first.

const place = mkdtempSync(join(tmpdir(), 'stuntdouble-npx-'))
const modules = join(place, 'node_modules')
mkdirSync(join(modules, '.bin'), { recursive: true })
symlinkSync(join(inject('consumer'), 'node_modules/stuntdouble'), join(modules, 'stuntdouble'))
symlinkSync('../stuntdouble/dist/cli.js', join(modules, '.bin/stuntdouble'))
writeFileSync(join(place, 'package.json'), '{ "private": true, "scripts": { "double": "stuntdouble serve --port 0" } }')
execFileSync('chmod', ['+x', join(inject('consumer'), 'node_modules/stuntdouble/dist/cli.js')])
afterAll(() => rmSync(place, { recursive: true, force: true }))

/** Returns `gone` when no process listens on the port. */
const watch = `
origin=''
while [ -z "$origin" ]; do sleep 0.2; origin=$(sed -n 's/^store  \\(http:.*\\)\\/main.*/\\1/p' out.txt); done
curl -sf "$origin/_health" > /dev/null && echo serves
END
for i in $(seq 100); do curl -s "$origin/_health" > /dev/null || { echo gone; exit; }; sleep 0.1; done
`

test.each([
  ['sh', 'npx stuntdouble serve --port 0', 'kill $!'],
  ['bash', 'npx stuntdouble serve --port 0', 'kill %1'],
  ['sh', 'npm run --silent double', 'kill $!'],
  ['sh', 'npx stuntdouble run -- npx stuntdouble serve --port 0', 'kill $!'],
  ['sh', 'node_modules/.bin/stuntdouble serve --port 0', 'kill $!'],
])('%s: %s & … %s', async (shell, start, end) => {
  const script = `rm -f out.txt\n${start} > out.txt 2> err.txt &\n${watch.replace('END', end)}`
  const env: NodeJS.ProcessEnv = { ...process.env, NODE_ENV: 'test' as const }
  for (const name of Object.keys(env)) if (/^npm_|^VITEST/.test(name)) delete env[name]
  const { stdout } = await promisify(execFile)(shell, ['-c', script], { cwd: place, env, timeout: 90_000 })
  expect(stdout).toBe('serves\ngone\n')
})
