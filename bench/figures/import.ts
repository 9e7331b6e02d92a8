// Cost of importing an entry in a test file, over msw/node. Each import is a separate process.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Figure, Variant } from '../harness.ts'

const run = promisify(execFile)

/** Time of the import inside the child process, without the start of the process. */
function importing(name: string): Variant {
  const program = `const start = process.cpuUsage(); await import('${name}'); const { user, system } = process.cpuUsage(start); process.stdout.write(String(user + system)); process.exit(0)`
  return {
    name,
    async run() {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program])
      spent = Number(stdout)
    },
  }
}

let spent = 0

function imports(): Figure {
  return {
    name: 'import over msw/node',
    baseline: importing('msw/node'),
    variants: ['stuntdouble', 'stuntdouble/fetch', 'stuntdouble/msw', 'stuntdouble/server'].map(importing),
    atMost: { stuntdouble: 0.85, 'stuntdouble/msw': 1.3, 'stuntdouble/server': 0.75 },
    rounds: 21,
    times: 1,
    reading: () => spent,
  }
}

export const figures = [imports]
