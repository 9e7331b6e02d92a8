import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { programBundle } from '../../../../test/support/bundle.ts'

const root = new URL('../../../..', import.meta.url).pathname

/** A folder with programs as users run them, without a whole build. */
export interface Built extends Disposable {
  readonly place: string
  program(name: 'cli' | 'server' | 'attack'): string
}

export async function built(): Promise<Built> {
  const place = mkdtempSync(join(tmpdir(), 'stuntdouble-endurance-'))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  copyFileSync(join(root, 'package.json'), join(place, 'package.json'))
  await build({
    entryPoints: {
      cli: join(root, 'packages/server/src/programs/cli.ts'),
      server: join(root, 'packages/server/test/endurance/server-child.ts'),
      attack: join(root, 'packages/server/test/endurance/attack-child.ts'),
    },
    outdir: place,
    outExtension: { '.js': '.mjs' },
    ...programBundle,
    splitting: true,
  })
  return {
    place,
    program: (name) => join(place, `${name}.mjs`),
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  }
}
