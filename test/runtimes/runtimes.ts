import { findChromium, noChromium } from '../support/chromium.ts'
import type { Need } from './suite/suite-test.ts'

/** A runtime in which the nightly runs the suite. */
export interface Runtime {
  readonly name: string
  /** Folder of test/runtimes with the packages of the runtime and their lock file. */
  readonly folder: string
  /** Adapter of test/runtimes/adapters that registers the suite with the runner. */
  readonly adapter: 'node' | 'bun' | 'deno' | 'vitest'
  /** Packages of the folder whose versions the table of the documentation lists. */
  readonly packages: readonly string[]
  /** Command of a user. Its program is one of the folder. */
  readonly command: string
  /** Options that only the suite needs. */
  readonly more?: string
  readonly env?: Readonly<Record<string, string>>
  /** Page of docs/ that sets up a first test. */
  readonly page: string
  /** What the runtime lacks. */
  readonly lacks: readonly Need[]
  /** Returns what this machine lacks, or `undefined` if the runtime can run. */
  readonly missing?: () => string | undefined
}

const needsChromium = (): string | undefined => (findChromium() ? undefined : noChromium)

/** A Cloudflare Worker with or without the flag `nodejs_compat`. */
const workerd = (vitest: 4 | 5, compatible: boolean): Runtime => ({
  name: `Cloudflare Workers, ${compatible ? 'with' : 'without'} \`nodejs_compat\`, Vitest ${vitest}`,
  folder: `workerd-vitest-${vitest}`,
  adapter: 'vitest',
  packages: ['workerd', '@cloudflare/vitest-plugin', 'vitest'],
  command: 'npx vitest run',
  env: compatible ? { COMPATIBILITY_FLAGS: 'nodejs_compat' } : { COMPATIBILITY_FLAGS: '' },
  page: 'runners/cloudflare-workers.md',
  lacks: compatible ? ['sockets'] : ['environment', 'sockets'],
})

/** The runtimes, in the order of the table in docs/runtimes.md. The first one is the reference for traces. */
export const runtimes: readonly Runtime[] = [
  ...([24, 22] as const).map(
    (version): Runtime => ({
      name: `Node.js ${version}`,
      folder: `node-${version}`,
      adapter: 'node',
      packages: ['node'],
      command: 'node --test',
      // The other reporters escape what tests print.
      more: '--test-reporter=spec',
      page: 'runners/node-test.md',
      lacks: [],
    }),
  ),
  {
    name: 'Bun',
    folder: 'bun',
    adapter: 'bun',
    packages: ['bun'],
    command: 'bun test',
    page: 'runners/bun.md',
    lacks: [],
  },
  {
    name: 'Deno',
    folder: 'deno',
    adapter: 'deno',
    packages: ['deno'],
    command: 'deno test --node-modules-dir=manual --no-check --allow-env --allow-read',
    more: '--allow-write --allow-net --allow-sys',
    page: 'runners/deno.md',
    lacks: [],
  },
  {
    name: 'Vitest browser mode, Chromium',
    folder: 'browser-mode',
    adapter: 'vitest',
    packages: ['vitest', '@vitest/browser-playwright', 'playwright'],
    command: 'npx vitest run',
    page: 'runners/browser-mode.md',
    lacks: ['environment', 'sockets'],
    missing: needsChromium,
  },
  workerd(5, true),
  workerd(5, false),
  workerd(4, true),
  workerd(4, false),
]

/** Why a runtime lacks something, for the table in docs/runtimes.md. */
export const needs: Readonly<Record<Need, { readonly title: string; readonly reason: string }>> = {
  environment: {
    title: 'environment variables',
    reason:
      'Browsers and Workers without `nodejs_compat` have no environment that clients such as `Redis.fromEnv()` can read. Pass `sandbox.urls` and `sandbox.tokens` to the clients.',
  },
  sockets: {
    title: 'the Redis protocol',
    reason:
      'Browsers and Workers cannot listen on a socket. Use the REST API, or a [server](server.md) in another process.',
  },
}
